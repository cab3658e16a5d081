/** Turns a handler into an HTTP server that Knative can run. */
export { type AppDependencies, createApp } from './app.ts';
export type { Context, Fn, StepEvent, Unreadable } from './function.ts';
export { limitHeapGrowth } from './limit-heap-growth.ts';
export { runMain } from './main.ts';
export { type Served, type ServeOptions, serveFunction } from './serve.ts';
export { times } from './times.ts';
