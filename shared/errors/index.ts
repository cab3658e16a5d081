/** The closed set of failures the conduit knows, and the one funnel for caught values. */
export { ArcError, type Cause, type Code, type ErrorDetails } from './arc-error.ts';
export { codeForStatus, httpStatus } from './http-status.ts';
