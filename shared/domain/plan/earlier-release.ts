import { sameJson } from '#shared/base/meta';
import { isAlwaysVerified } from '../identity/artifact.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec, EndpointRef } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';

/**
 * True if `actual` is the very transfer that `wanted` is, made by a release that named it by another hash (it recorded no digest of its
 * Endpoints): it is taken over as it is, so that an upgrade runs nothing again.
 */
export function isFromEarlierRelease(wanted: ArtifactWorkflow, actual: ArtifactWorkflow): boolean {
  const { srcRef, dstRef } = actual.spec;
  if (srcRef === undefined || dstRef === undefined) return false;
  if (srcRef.digest !== undefined || dstRef.digest !== undefined) return false;
  const forced = ({ metadata }: ArtifactWorkflow) =>
    unixSeconds(metadata.annotations?.[annotations.orderForceAt]);
  const seen = isFinished(actual) ? seenWhenDone : seenOf;
  return (
    sameJson(inputsOf(wanted.spec, seen), inputsOf(actual.spec, seen)) &&
    forced(wanted) === forced(actual) &&
    isAlwaysVerified(wanted) === isAlwaysVerified(actual)
  );
}

/** What such a release recorded of the inputs of a transfer. Policies are none of it: it had none, and `mayGoOn` judges by them. */
function inputsOf(spec: ArtifactWorkflowSpec, seen: typeof seenOf): unknown[] {
  const { type, workflowTemplateRef, parameters, artifact, srcSecretRef, dstSecretRef, cron } = spec;
  return [
    ...[type, workflowTemplateRef, parameters, artifact, srcSecretRef, dstSecretRef, cron].map(
      (part) => part ?? null,
    ),
    ...[spec.srcRef, spec.dstRef].map(seen),
  ];
}

/** Of what has ended without the generation of the Endpoint: an edit of its limits is no reason to run again, and URL and type are parameters. */
function seenWhenDone(ref: EndpointRef | undefined): unknown[] {
  return [ref?.name ?? null, ref?.secretGeneration ?? null];
}

function seenOf(ref: EndpointRef | undefined): unknown[] {
  return [ref?.name ?? null, ref?.generation ?? null, ref?.secretGeneration ?? null];
}

/**
 * True if a finished entry of an Order's status, whose ArtifactWorkflow has expired, stands for `wanted`: such a release wrote it (without a
 * revision), and its Endpoints are still of the generations that the status names. The public Go ARC names none: a changed Endpoint re-ran
 * nothing there. roll-up-order writes those of today with its first status.
 */
export function isEntryOfEarlierRelease(
  { status }: Order,
  { revision }: ArtifactStatus,
  { spec }: ArtifactWorkflow,
): boolean {
  if (revision !== undefined) return false;
  if (status?.endpointGenerations === undefined) return true;
  return [spec.srcRef, spec.dstRef].every(
    (ref) =>
      ref !== undefined &&
      status?.endpointGenerations?.[ref.name] === ref.generation &&
      (ref.secretGeneration === undefined || status?.secretGenerations?.[ref.name] === ref.secretGeneration),
  );
}
