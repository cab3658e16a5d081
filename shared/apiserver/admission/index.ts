/** Deciding about writes: plug-ins in two stages around validation. */
export { type Admission, createAdmission } from './chain.ts';
export { type FindNamespace, namespaceLifecycle } from './namespace-lifecycle.ts';
export type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
export { admissionRequest } from './request.ts';
