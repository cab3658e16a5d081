/** The closed set of error codes, the one error class, and texts without control characters. */
export { ArcError, type Cause, type Code, type ErrorDetails } from './arc-error.ts';
export { codeForStatus, httpStatus } from './http-status.ts';
export { printable, printableJson, printableLines } from './printable.ts';
