import { markerText } from '../layout/layout-files.ts';
import { fileName } from './read-bundle.ts';
import { type BundleRecord, recordName, signatureName } from './record.ts';

const block = 512;
const endOfTar = 2 * block;
/** A longer name stands in a header of its own, with a block of text. */
const longestName = 100;

/** The bytes of the tar that `writeTar` makes of these files. */
export function tarSize(files: Iterable<{ name: string; size: number }>): number {
  let total = endOfTar;
  for (const { name, size } of files) {
    if (Buffer.byteLength(name) > longestName) total += 2 * block;
    total += block + Math.ceil(size / block) * block;
  }
  return total;
}

/** The bytes of a bundle, its parts together, by its record and the lengths of record and signature (0: not signed). */
export function bundleSize(record: BundleRecord, recordLength: number, signatureLength: number): number {
  return tarSize([
    { name: recordName, size: recordLength },
    ...(signatureLength > 0 ? [{ name: signatureName, size: signatureLength }] : []),
    { name: 'oci-layout', size: Buffer.byteLength(markerText) },
    { name: 'index.json', size: record.index.size },
    ...record.blobs.map(({ digest, size }) => ({ name: fileName(digest), size })),
  ]);
}
