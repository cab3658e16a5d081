/** Stand-ins for what a cluster provides: a broker, an executor, the cluster's kinds, RBAC, garbage collection and a registry. */

// A broker with Knative's delivery rules, wired from Trigger manifests.
export { type Post, type PostAnswer, type SendPost, sendOverHttp } from './broker/attempt.ts';
export { type Broker, type BrokerOptions, startBroker } from './broker/broker.ts';
export { type Delivery, type Destination, parseTriggers, type Trigger } from './broker/trigger.ts';
// Schedules of Workflows.
export { startCronController } from './cron/cron-controller.ts';
// Workflows of one pod, run as child processes.
export { type Executor, type ExecutorOptions, startExecutor } from './executor/executor.ts';
export type { Programs } from './executor/programs.ts';
// The garbage collector and the namespace controller.
export { type GarbageCollectorOptions, type StoredKind, startGarbageCollector } from './garbage/collector.ts';
// The kinds of a cluster that the standalone serves beside ARC's own.
export { accessReviewKinds } from './kinds/access-reviews.ts';
export { clusterKinds, clusterKindsWith } from './kinds/cluster-kinds.ts';
export { createLiveLogs, type LiveLogs } from './kinds/live-logs.ts';
// Kubernetes RBAC evaluated from manifests (docs/decisions/0015-standalone-enforces-rbac.md).
export { createRbac, type Rbac, type RulesOf } from './rbac/authorizer.ts';
export { withComponent } from './rbac/component.ts';
export { followGrants } from './rbac/follow-grants.ts';
export { loadManifests, type Manifest, manifestFiles, parseManifests } from './rbac/manifests.ts';
export type { PolicyRule } from './rbac/rules.ts';
// A small OCI registry on loopback for the demo and the tests, with faults to order.
export {
  type FaultRule,
  type Registry,
  type RegistryOptions,
  type SeedOptions,
  seedImage,
  startRegistry,
} from './registry/index.ts';
