/** Types and small pure functions for any object of the Kubernetes API. The lowest room: imports nothing of ours. */
export { canonicalJson, isRecord, type Json, sameJson } from './json.ts';
export { applyMergePatch, mergePatchBetween } from './merge-patch.ts';
export type { KubeObject, ObjectMeta, OwnerReference } from './object.ts';
export { etcdRequestBytes, largestBodyBytes, largestObjectBytes } from './object-size.ts';
export { isOwnedBy, ownerOfKind, ownerReference } from './owner-references.ts';
export { instantOf, isoMicroseconds, isoSeconds } from './time.ts';
