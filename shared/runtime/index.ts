/** What turns a handler into an HTTP server that Knative can run. */
export type { Context, Fn, Wake } from './function.ts';
