/** Everything that programs need for bundles; loaded on demand by `loadBundles`. */

export {
  isSigned,
  readPrivateKey,
  readPublicKeys,
  signBytes,
} from '../attest/detached-signature.ts';
export { exportBundle, recordedName, recordFileOf } from './export-bundle.ts';
export { importBundle } from './import-bundle.ts';
export { partSizeOf } from './part-size.ts';
export { findParts, IncompleteBundle, partName, partsOfFile } from './parts.ts';
export { readBundle } from './read-bundle.ts';
export { importsIn, includesImport, mergedReceipt, parseReceipt, receiptOf, saveReceipt } from './receipt.ts';
export { bundleDigest, maxRecordBytes, parseRecord } from './record.ts';
export { bundleSize } from './tar-size.ts';
