import { markerText } from '../layout/layout-files.ts';
import { blobPath } from './read-bundle.ts';
import { type BundleRecord, recordName, signatureName } from './record.ts';

const block = 512;
const endOfTar = 2 * block;
/** A longer name has a header of its own, and a block for the text. */
const maxNameLength = 100;

/** Returns the size in bytes of the tar that `writeTar` creates of these files. */
export function tarSize(files: Iterable<{ name: string; size: number }>): number {
  let total = endOfTar;
  for (const { name, size } of files) {
    if (Buffer.byteLength(name) > maxNameLength) total += 2 * block;
    total += block + Math.ceil(size / block) * block;
  }
  return total;
}

/** Returns the total size of a bundle in bytes, from its record and the lengths of record and signature (0 if not signed). */
export function bundleSize(record: BundleRecord, recordLength: number, signatureLength: number): number {
  return tarSize([
    { name: recordName, size: recordLength },
    ...(signatureLength > 0 ? [{ name: signatureName, size: signatureLength }] : []),
    { name: 'oci-layout', size: Buffer.byteLength(markerText) },
    { name: 'index.json', size: record.index.size },
    ...record.blobs.map(({ digest, size }) => ({ name: blobPath(digest), size })),
  ]);
}
