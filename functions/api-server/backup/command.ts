import { createReadStream } from 'node:fs';
import { Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ArcError } from '#shared/base/errors';
import { artifactWorkflows, group } from '#shared/domain';
import { storagePrefix } from '#shared/kubernetes/apiserver';
import { type Backup, readBackup, type Store, writeBackup } from '#shared/kubernetes/storage';
import { type BackupPlace, backupName } from './place.ts';

/** What a restore says of each ArtifactWorkflow, so that what runs of others can be kept from being collected. */
export interface RestoredWorkflow {
  namespace: string;
  name: string;
  uid: string;
}

/** Saves all objects of our kinds, compressed, and returns what the backup is called. */
export async function save(store: Store, place: BackupPlace, now: Date): Promise<string> {
  const content = through(writeBackup(store, { prefix: storagePrefix(group), now }), createGzip());
  return place.save(backupName(now), content);
}

/** Writes the same to a stream, such as the standard output. */
export async function saveTo(store: Store, output: Writable, now: Date): Promise<void> {
  await pipeline(writeBackup(store, { prefix: storagePrefix(group), now }), createGzip(), output);
}

/** Reads and checks a whole backup. Rejects with `Invalid` for what is none of our kinds. */
export async function load(content: AsyncIterable<Uint8Array>): Promise<Backup> {
  const backup = await readBackup(through(content, createGunzip())).catch((caught: unknown) => {
    if (caught instanceof Error && 'code' in caught && String(caught.code).startsWith('Z_'))
      throw new ArcError('Invalid', 'this is not a whole backup of ARC: it cannot be decompressed');
    throw caught;
  });
  const prefix = storagePrefix(group);
  if (backup.prefix !== prefix)
    throw new ArcError('Invalid', `this is a backup of ${backup.prefix}, not of ${prefix}`);
  return backup;
}

/** The standard input, or a backup of that name. */
export function sourceOf(name: string, place: () => BackupPlace): AsyncIterable<Uint8Array> {
  return name === '-' ? createReadStream('', { fd: 0 }) : place().read(name);
}

/** The ArtifactWorkflows in a backup. */
export function* workflowsIn({ items, prefix }: Backup): Generator<RestoredWorkflow> {
  for (const { key, value } of items) {
    if (!key.startsWith(`${prefix}${artifactWorkflows.plural}/`)) continue;
    const { metadata } = JSON.parse(Buffer.from(value).toString()) as { metadata: RestoredWorkflow };
    yield { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  }
}

/** What comes out of a transform. A failure of either rejects the iteration. */
function through(content: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  pipeline(Readable.from(content), transform).catch(() => undefined);
  return transform;
}
