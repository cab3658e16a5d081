/** What a server does beside answering: limits, metrics, the audit log. */
export { type Activity, createActivity, defaultLimits, kindOf, type Limits } from './activity.ts';
export { type AuditPolicy, parseAuditPolicy } from './audit-policy.ts';
export type { AuditedRequest, Auditor } from './auditor.ts';
export { type AuditSink, createAuditor } from './auditor.ts';
export { authenticationMeasure, authorizationMeasure, type Measure } from './auth-metrics.ts';
export type { Exchange } from './exchange.ts';
export { processMetrics } from './process-metrics.ts';
export { type RequestMetrics, requestMetrics } from './request-metrics.ts';
