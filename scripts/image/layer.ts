import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Descriptor, digestOf } from '#shared/transfer';
import { type Entry, tarOf } from './tar.ts';

/** A new layer. */
export interface Layer {
  descriptor: Descriptor;
  /** Digest of the tar before compression. */
  diffId: string;
  bytes: Buffer;
  /** Its entry in the image's history. */
  createdBy: string;
}

const compress = promisify(gzip);
const operatingSystem = 9;
const unknownSystem = 255;

/** Packs entries into a layer. The same entries and `mtime` (seconds) give the same digest with the same Node. */
export async function makeLayer(entries: readonly Entry[], mtime: number, createdBy: string): Promise<Layer> {
  const tar = await tarOf(entries, mtime);
  const bytes = await compress(tar);
  // zlib's header has no time or name, but contains the operating system it was built for.
  bytes[operatingSystem] = unknownSystem;
  return {
    descriptor: {
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest: digestOf(bytes),
      size: bytes.length,
    },
    diffId: digestOf(tar),
    bytes,
    createdBy,
  };
}
