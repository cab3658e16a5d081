/** Kubernetes RBAC evaluated from manifests (docs/decisions/0015-standalone-enforces-rbac.md). */
export { type RulesOf, rbacAuthorizer, rbacRules } from './authorizer.ts';
export { loadManifests, type Manifest, manifestFiles, parseManifests } from './manifests.ts';
export type { PolicyRule } from './rules.ts';
