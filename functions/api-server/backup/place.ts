import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ArcError } from '#shared/base/errors';
import { type FileLocation, inSession, openS3Sink, openS3Source } from '#shared/transfer';

/** Where backups are kept. */
export interface BackupPlace {
  /** Takes a whole backup, and returns what people call it. A backup that was cut off never has the name. */
  save(name: string, content: AsyncIterable<Uint8Array>): Promise<string>;
  /** The content of a backup. */
  read(name: string): AsyncIterable<Uint8Array>;
}

export interface BackupSettings {
  /** A folder, or `https://host/bucket[/prefix]` of an S3 storage. */
  ARC_BACKUP_TARGET?: string | undefined;
  /** How many backups stay in a folder; an S3 storage has lifecycle rules for that. */
  ARC_BACKUP_KEEP: number;
  ARC_BACKUP_ACCESS_KEY_ID?: string | undefined;
  ARC_BACKUP_SECRET_ACCESS_KEY?: string | undefined;
  ARC_BACKUP_REGION?: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The place that the settings name. Throws Invalid where there is none. */
export function backupPlace(settings: BackupSettings, env: Env, signal: AbortSignal): BackupPlace {
  const { ARC_BACKUP_TARGET: target, ARC_BACKUP_KEEP: keep } = settings;
  if (target === undefined)
    throw new ArcError(
      'Invalid',
      'set ARC_BACKUP_TARGET to a folder or to https://<host>/<bucket>, or give "-"',
    );
  if (/^https?:\/\//.test(target)) return s3Place(target, settings, env, signal);
  if (!path.isAbsolute(target))
    throw new ArcError(
      'Invalid',
      `ARC_BACKUP_TARGET ${JSON.stringify(target)}: give an absolute path or a URL`,
    );
  return folderPlace(target, keep);
}

/** Backups made by `backupName`, so that nothing else in the folder is ever removed. */
const named = /^arc-\d{8}T\d{6}Z\.backup\.gz$/;

export function backupName(now: Date): string {
  return `arc-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup.gz`;
}

function folderPlace(folder: string, keep: number): BackupPlace {
  return {
    async save(name, content) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, name);
      const partial = `${file}.partial`;
      try {
        await pipeline(content, createWriteStream(partial, { mode: 0o600, flush: true }));
        await rename(partial, file);
      } finally {
        await rm(partial, { force: true });
      }
      const old = (await readdir(folder)).filter((each) => named.test(each)).sort();
      for (const each of old.slice(0, -keep)) await rm(path.join(folder, each), { force: true });
      return file;
    },
    async *read(name) {
      const file = path.join(folder, path.basename(name));
      if (!(await stat(file).catch(() => undefined)))
        throw new ArcError('NotFound', `there is no backup ${path.basename(name)} in ${folder}`);
      yield* createReadStream(file);
    },
  };
}

function s3Place(remoteURL: string, settings: BackupSettings, env: Env, signal: AbortSignal): BackupPlace {
  const { ARC_BACKUP_ACCESS_KEY_ID: accessKeyID, ARC_BACKUP_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const { ARC_BACKUP_REGION: region } = settings;
  if ((accessKeyID === undefined) !== (secretAccessKey === undefined))
    throw new ArcError(
      'Invalid',
      'ARC_BACKUP_ACCESS_KEY_ID and ARC_BACKUP_SECRET_ACCESS_KEY belong together',
    );
  // Without keys: the identity that the cloud gives to the pod.
  const credentials =
    accessKeyID === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyID, secretAccessKey, ...(region !== undefined && { region }) };
  const at = (name: string): FileLocation => ({
    name: 'backup',
    remoteURL,
    path: name,
    tls: { plainHTTP: remoteURL.startsWith('http://') },
    ...(credentials && { credentials }),
  });
  const options = { signal, workDir: tmpdir(), proxyEnv: env, identityEnv: env };
  return {
    async save(name, content) {
      const hash = createHash('sha256');
      let size = 0;
      await inSession(options, async ({ session }) => {
        const read = () => ({ size, digest: `sha256:${hash.copy().digest('hex')}` });
        const counted = async function* () {
          for await (const chunk of content) {
            hash.update(chunk);
            size += chunk.length;
            yield chunk;
          }
        };
        const upload = {
          size: undefined,
          digest: undefined,
          origin: undefined,
          mediaType: 'application/gzip',
        };
        await openS3Sink(at(name), session).put(
          { ...upload, name, content: counted, identity: read },
          signal,
        );
        return { warnings: [] };
      });
      return `${remoteURL.replace(/\/$/, '')}/${name}`;
    },
    async *read(name) {
      const chunks: Uint8Array[] = [];
      await inSession(options, async ({ session }) => {
        const { stream } = await openS3Source(at(name), session).open(0, undefined, signal);
        for await (const chunk of stream) chunks.push(chunk);
        return { warnings: [] };
      });
      yield* chunks;
    },
  };
}
