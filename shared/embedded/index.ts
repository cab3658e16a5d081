/** What a cluster would otherwise provide: a broker, RBAC, an executor, garbage collection, core and Argo kinds. */
export { type Broker, type BrokerOptions, type Destination, parseTriggers, startBroker, type Trigger } from './broker/index.ts';
export { accessReviewKinds, clusterKinds } from './kinds/index.ts';
export { loadManifests, type Manifest, manifestFiles, parseManifests, rbacAuthorizer, rbacRules } from './rbac/index.ts';
