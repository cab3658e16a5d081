/** What a cluster would otherwise provide: a broker, an executor, the cluster's kinds, RBAC, garbage collection and a registry. */
export {
  type Broker,
  type BrokerOptions,
  type Delivery,
  type Destination,
  parseTriggers,
  startBroker,
  type Trigger,
} from './broker/index.ts';
export { type Executor, type ExecutorOptions, type Programs, startExecutor } from './executor/index.ts';
export { type GarbageCollectorOptions, type StoredKind, startGarbageCollector } from './garbage/index.ts';
export { accessReviewKinds, clusterKinds } from './kinds/index.ts';
export {
  loadManifests,
  type Manifest,
  manifestFiles,
  type PolicyRule,
  parseManifests,
  type RulesOf,
  rbacAuthorizer,
  rbacRules,
} from './rbac/index.ts';
export {
  type FaultRule,
  type Registry,
  type RegistryOptions,
  type SeedOptions,
  seedImage,
  startRegistry,
} from './registry/index.ts';
