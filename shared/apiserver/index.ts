/** A generic API server: definitions of kinds in, the Kubernetes API out. */
export type { AdmissionPlugin, AdmissionRequest, FindNamespace } from './admission/index.ts';
export { type AuditPolicy, parseAuditPolicy } from './audit/audit-policy.ts';
export type { AuditSink } from './audit/auditor.ts';
export * from './authentication/index.ts';
export { delegatedAuthorizer } from './authorization/index.ts';
export type { PostReview, Review } from './authorization/review.ts';
export type * from './definition.ts';
export type { Limits } from './flowcontrol/in-flight.ts';
export type { HealthCheck } from './health.ts';
export { processMetrics } from './metrics/process-metrics.ts';
export { storagePrefix } from './registry/registry.ts';
export type { Connection } from './request/connection.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
export { type Certificate, type ServeOptions, type Serving, serve } from './serving/index.ts';
