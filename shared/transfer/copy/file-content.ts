import path from 'node:path';
import { Readable } from 'node:stream';
import type { ContentSource, OpenBlob } from '../content/content.ts';
import type { FileIdentity } from '../content/file.ts';
import { empty, emptyConfig, layerOf, manifestOf } from '../content/file-artifact.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { createSpool } from '../content/spool.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readFile } from '../files/read-file.ts';
import type { TransferContext } from '../oci/session.ts';
import { expectedOf, mediaTypeOf, type NamedFile } from './copy-file.ts';

/** What is known about a file before it is copied. */
interface KnownFile {
  layer: Descriptor;
  manifest: Manifest;
  open(offset: number, signal: AbortSignal, reusesBuffers?: boolean): Promise<OpenBlob>;
}

/**
 * Returns a file as a ContentSource, with the same manifest that `ociFileSink` creates. A file of unknown size or digest is first spooled
 * to `context.folder`, up to `maxBytes`. The ContentSource rejects with TransferErrors.
 */
export function fileContent(file: NamedFile, context: TransferContext, maxBytes: number): ContentSource {
  const { label, url } = file.source;
  let known: Promise<KnownFile> | undefined;
  const look = () => (known ??= identifyFile(file, context, maxBytes));
  const { host, pathname } = new URL(url);
  return {
    place: label,
    address: host + pathname,
    root: async () => (await look()).manifest,
    async manifest(digest) {
      const { manifest } = await look();
      return digest === manifest.digest ? manifest : undefined;
    },
    async openBlob(digest, offset, signal, reusesBuffers) {
      const { layer, open } = await look();
      if (digest === layer.digest) return open(offset, signal, reusesBuffers);
      if (digest === empty.digest)
        return { start: 0, size: empty.size, stream: Readable.from([emptyConfig]) };
      throw new TransferError('permanent', `The ${label} has no blob ${digest}.`);
    },
    findReferrers: async () => [],
  };
}

async function identifyFile(
  file: NamedFile,
  { session, folder, signal }: TransferContext,
  maxBytes: number,
): Promise<KnownFile> {
  const { source, name } = file;
  const info = await source.stat(signal);
  const expected = expectedOf(file, info);
  const mediaType = mediaTypeOf(file, info);
  const describe = (identity: FileIdentity) => {
    const layer = layerOf({ mediaType, name }, identity);
    return { layer, manifest: manifestOf(layer) };
  };
  const { size, validator } = info;
  if (size !== undefined && expected !== undefined)
    return {
      ...describe({ size, digest: expected }),
      async open(offset, sub, reusesBuffers) {
        const { start, stream, info: now } = await source.open(offset, validator, sub, reusesBuffers);
        return { start, size: now.size, stream };
      },
    };
  const spool = createSpool(path.join(folder, 'file'));
  const reading = { source, size, expected, maxBytes, retry: session.retry };
  let identity: FileIdentity | undefined;
  async function* content() {
    identity = yield* readFile(reading, signal);
  }
  await spool.fill(content());
  if (identity === undefined) throw new Error('the content has not been read to its end');
  const { size: whole } = identity;
  return {
    ...describe(identity),
    open: async () => ({ start: 0, size: whole, stream: Readable.from(spool.read()) }),
  };
}
