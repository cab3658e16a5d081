/** Addresses of registries, files and folders, and where an artifact lands: pure, for the plan that compares places and for the worker that writes there. */

export { AddressError } from './address-error.ts';
export { isDigest } from './digest.ts';
export { decodedName, escapeName, fileURL } from './file-url.ts';
export { folderNames } from './folder.ts';
export { type ImageAddress, resolveAddress } from './image-address.ts';
export { entryName, landingEntry, landingName, layoutEntry, movedName, writtenTag } from './landing.ts';
export {
  bundleRecord,
  type FileType,
  fileTypes,
  hasFiles,
  type Landing,
  type Place,
  placeOf,
} from './place.ts';
export {
  formatReference,
  type ImageName,
  isHost,
  isLoopback,
  isRepository,
  isTag,
  parseImageName,
  parseReference,
  type Reference,
  registryURL,
} from './reference.ts';
export { awsHost, inRegion, isAnywhere, isAwsStorage, type S3Place, s3Place } from './s3-object.ts';
