/**
 * What the functions of the conduit share around their decisions (docs/decisions/0002-events-are-hints.md). Each function has the same shape:
 *
 * 1. read the object that the event names, with `api.get(kind, event, signal)`, and end if it is gone;
 * 2. read the inputs of the decision (`readPlan`, `readChildren`, `readWorkflow`, `readSettings`);
 * 3. decide with a pure function of shared/domain;
 * 4. write what differs, guarded (`writeStatus`, `addFinalizer`, `createOrGet`), then record an Event (`recordEvent`).
 */
export { ignoreForbidden, ignoreNotFound, isOverQuota, isRefusal, missingRight } from './api-errors.ts';
export { createOrGet } from './create-or-get.ts';
export { type EventInput, emitEvent } from './emit-event.ts';
export { addFinalizer, removeFinalizer } from './finalizers.ts';
export { findPod } from './find-pod.ts';
export { namespaceOf, uidOf, versionOf } from './metadata.ts';
export { createProcessCache } from './process-cache.ts';
export { readArtifactWorkflow } from './read-artifact-workflow.ts';
export { listBytes, readChildren } from './read-children.ts';
export { readOwner, readOwnerMetadata } from './read-owner.ts';
export { readPlan, readPlanInputs } from './read-plan.ts';
export { type KnownSettings, knownSettings, readSettings, settingsMap } from './read-settings.ts';
export { readTypes } from './read-types.ts';
export { readWorkflow } from './read-workflow.ts';
export { recordEvent } from './record-event.ts';
export { recordRequest } from './record-request.ts';
export { writeStatus } from './write-status.ts';
