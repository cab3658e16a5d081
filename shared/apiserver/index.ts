/** A generic API server: definitions of kinds in, the Kubernetes API out. */
export type { AdmissionPlugin, AdmissionRequest, FindNamespace } from './admission/index.ts';
export * from './authentication/index.ts';
export { delegatedAuthorizer } from './authorization/index.ts';
export type { Connection } from './connection.ts';
export type * from './definition.ts';
export type { HealthCheck } from './health.ts';
export {
  type AuditPolicy,
  type AuditSink,
  type Limits,
  parseAuditPolicy,
  processMetrics,
} from './operations/index.ts';
export { storagePrefix } from './registry.ts';
export type { PostReview, Review } from './review.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
export { type Certificate, type ServeOptions, type Serving, serve } from './serving/index.ts';
