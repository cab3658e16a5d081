import path from 'node:path';
import { Readable } from 'node:stream';
import type { ContentSource, OpenBlob } from '../content/content.ts';
import type { FileIdentity } from '../content/file.ts';
import { empty, emptyConfig, layerOf, manifestOf } from '../content/file-artifact.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { createSpool } from '../content/spool.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readFile } from '../files/read-file.ts';
import type { Opening } from '../oci/session.ts';
import { expectedOf, mediaTypeOf, type NamedFile } from './copy-file.ts';

/** What is known of a file before it is copied. */
interface Known {
  layer: Descriptor;
  manifest: Manifest;
  open(offset: number, signal: AbortSignal): Promise<OpenBlob>;
}

/**
 * A file as a source of artifacts: the same one that `ociFileSink` makes of it. A file whose size or digest nobody tells is read into `opening.folder`
 * first, up to `maxBytes`. The ContentSource rejects with TransferErrors.
 */
export function fileContent(file: NamedFile, opening: Opening, maxBytes: number): ContentSource {
  const { label, url } = file.source;
  let known: Promise<Known> | undefined;
  const look = () => (known ??= knownOf(file, opening, maxBytes));
  const { host, pathname } = new URL(url);
  return {
    place: label,
    address: host + pathname,
    root: async () => (await look()).manifest,
    async manifest(digest) {
      const { manifest } = await look();
      return digest === manifest.digest ? manifest : undefined;
    },
    async openBlob(digest, offset, signal) {
      const { layer, open } = await look();
      if (digest === layer.digest) return open(offset, signal);
      if (digest === empty.digest)
        return { start: 0, size: empty.size, stream: Readable.from([emptyConfig]) };
      throw new TransferError('permanent', `The ${label} has no blob ${digest}.`);
    },
    findReferrers: async () => [],
  };
}

async function knownOf(
  file: NamedFile,
  { session, folder, signal }: Opening,
  maxBytes: number,
): Promise<Known> {
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
      async open(offset, sub) {
        const { start, stream, info: now } = await source.open(offset, validator, sub);
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
