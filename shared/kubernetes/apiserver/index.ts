/** A generic API server: serves the Kubernetes API for kind definitions. Rationale: docs/decisions/0001-own-api-server-and-etcd.md. */

export type { FindNamespace } from './admission/namespace-lifecycle.ts';
export type { AdmissionPlugin, AdmissionRequest } from './admission/plugin.ts';
export { type AuditPolicy, parseAuditPolicy } from './audit/audit-policy.ts';
export type { AuditSink } from './audit/auditor.ts';
export {
  type Authenticator,
  type AuthenticatorOptions,
  createAuthenticator,
} from './authentication/authenticator.ts';
export { type AuthenticationConfig, parseAuthenticationConfig } from './authentication/config.ts';
export {
  type ConfigReader,
  type LiveConfigOptions,
  liveAuthenticationConfig,
} from './authentication/live-config.ts';
export type { PostReview, Review } from './authentication/review.ts';
export { type ReviewToken, tokenReviewer } from './authentication/token-review.ts';
export type { User } from './authentication/user/user.ts';
export type { Attributes, Authorizer } from './authorization/authorizer.ts';
export { delegatedAuthorizer } from './authorization/delegated.ts';
export type { Limits } from './fairness/limits.ts';
export type { Connection } from './http/connection.ts';
export type * from './kinds/definition.ts';
export { pauseMetrics, processMetrics } from './metrics/process-metrics.ts';
export type { HardLimit } from './quota/limits.ts';
export type { QuotaOptions } from './quota/quota.ts';
export { storagePrefix } from './registry/keys.ts';
export { type StoredObjects, storedObjects } from './registry/stored-object.ts';
export type { HealthCheck } from './server/health.ts';
export { type ApiServer, type ApiServerOptions, createApiServer } from './server/server.ts';
export { answerChannel, type Call, callChannel, inProcess } from './serving/in-process.ts';
export { type Certificate, type ServeOptions, type Serving, serve } from './serving/serve.ts';
