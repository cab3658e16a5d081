import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import {
  type Artifact,
  type ArtifactWorkflow,
  type Order,
  type Parameter,
  parameterName,
  withDefaults,
} from '#shared/domain';

/** Returns the inputs of a version, for people to compare. */
export function inputsOf({ spec }: ArtifactWorkflow): object {
  const { type, srcRef, dstRef, cron, artifact, workflowTemplateRef, policies } = spec;
  const side = (ref: typeof srcRef) =>
    ref && { endpoint: ref.name, generation: ref.generation, credentials: ref.secretGeneration };
  return omitUndefined({
    type,
    source: side(srcRef) && omitUndefined(side(srcRef) ?? {}),
    destination: side(dstRef) && omitUndefined(side(dstRef) ?? {}),
    cron,
    spec: artifact?.spec,
    template: workflowTemplateRef.name,
    policies: policies?.map(({ from, digest }) => `${from} ${digest.slice(0, 19)}`),
  });
}

/**
 * Returns the artifacts of an Order with one set back to the inputs of an earlier version. The version's spec includes the `parameters` of its
 * type, which are omitted, because the Order does not set them. Throws Conflict if the Order no longer lists the artifact.
 */
export function withVersionRestored(
  order: Order,
  index: number,
  version: ArtifactWorkflow,
  parameters: readonly Parameter[],
): Artifact[] {
  const artifacts = order.spec.artifacts ?? [];
  const current = artifacts[index];
  if (!current) throw new ArcError('Conflict', 'the Order has changed and no longer lists this artifact');
  const { source, destination, cron } = withDefaults(order, current);
  const { type = current.type, srcRef, dstRef, artifact } = version.spec;
  const ofType = new Set(parameters.map(({ name }) => name));
  const spec = Object.fromEntries(
    Object.entries(artifact?.spec ?? {}).filter(
      ([field]) => Object.hasOwn(current.spec ?? {}, field) || !ofType.has(parameterName('spec', field)),
    ),
  );
  const before = version.spec.cron;
  const changed: Artifact = {
    ...current,
    type,
    spec,
    ...(srcRef && srcRef.name !== source && { srcRef: { name: srcRef.name } }),
    ...(dstRef && dstRef.name !== destination && { dstRef: { name: dstRef.name } }),
    ...(before !== undefined && !isDeepStrictEqual(before, cron) && { cron: before }),
  };
  return artifacts.map((each, at) => (at === index ? changed : each));
}

function omitUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
