/** A generic API server: definitions of kinds in, the Kubernetes API out. */
export type * from './definition.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
