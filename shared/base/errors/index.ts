/** The closed set of error codes, the one error class, and texts for people: escaped, without secrets, bytes in units. */
export { ArcError, type Cause, type Code, type ErrorDetails } from './arc-error.ts';
export { bytesText } from './bytes-text.ts';
export { codeForStatus, httpStatus } from './http-status.ts';
export { createMasker, type Masker, maskSecrets } from './mask.ts';
export { printable, printableJson, printableLines } from './printable.ts';
export { shortageIn } from './shortage.ts';
