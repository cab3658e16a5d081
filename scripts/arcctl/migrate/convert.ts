import { isRecord, type KubeObject } from '#shared/base/meta';
import { annotations, parseDuration, unixSeconds } from '#shared/domain';

/** An object of the Go ARC: the fields of its spec and status are read one by one. */
export type Foreign = KubeObject & { spec?: Record<string, unknown>; status?: Record<string, unknown> };

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Converts an object of the Go ARC: the fields that users wrote, with the same meaning. */
export function converted(object: Foreign): Foreign {
  const { apiVersion, kind, metadata, spec = {} } = object;
  const { name, namespace, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: keptAnnotations(object),
    },
    spec: convertedSpec(kind ?? '', spec),
  };
}

/** Drops `force-at` if the Go ARC has acted on it already. */
function keptAnnotations({ metadata, status = {} }: Foreign): Record<string, string> {
  const { [lastApplied]: _applied, [annotations.forceAt]: forceAt, ...kept } = metadata.annotations ?? {};
  const answered = Date.parse(String(status.lastForceAt ?? '')) / 1000 || 0;
  const isOpen = forceAt !== undefined && unixSeconds(forceAt) > answered;
  return isOpen ? { ...kept, [annotations.forceAt]: forceAt } : kept;
}

function convertedSpec(kind: string, spec: Record<string, unknown>): Record<string, unknown> {
  switch (kind) {
    case 'Endpoint':
      // The Go ARC documents All as the default, but fails Orders that use an Endpoint without a usage.
      return { ...withoutEmptyRefs(spec), usage: spec.usage || 'All' };
    case 'Order': {
      const defaults = isRecord(spec.defaults) ? spec.defaults : {};
      const artifacts = Array.isArray(spec.artifacts) ? spec.artifacts.filter(isRecord) : [];
      return {
        ...withoutZeros(spec, ['ttl']),
        defaults: withCron(withoutEmptyRefs(defaults)),
        artifacts: artifacts.map((artifact) => withCron(withoutEmptyRefs(artifact))),
      };
    }
    case 'ArtifactWorkflow':
      return withCron(withoutEmptyRefs(withoutZeros(spec, ['ttlAfterFinished', 'ttlAfterFailed'])));
    default: {
      const { dstType, ...rules } = isRecord(spec.rules) ? spec.rules : {};
      return {
        ...withoutZeros(spec, ['ttlAfterFinished', 'ttlAfterFailed']),
        rules: { ...rules, ...(dstType === undefined ? {} : { dstTypes: dstType }) },
      };
    }
  }
}

/** A TTL of 0 means "keep" in the Go ARC; here, an absent TTL does. */
function withoutZeros(spec: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const isZero = (value: unknown) => value === 0 || parseDuration(String(value)) === 0;
  return Object.fromEntries(
    Object.entries(spec).filter(([name, value]) => !names.includes(name) || !isZero(value)),
  );
}

/** Go serializes an unset reference with an empty name. */
function withoutEmptyRefs(fields: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) => value === null || (isRecord(value) && !value.name);
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !name.endsWith('Ref') || !isEmpty(value)),
  );
}

/** This ARC always uses Forbid. */
function withCron({ cron, ...fields }: Record<string, unknown>): Record<string, unknown> {
  if (!isRecord(cron)) return fields;
  const { concurrencyPolicy: _policy, ...kept } = cron;
  return { ...fields, cron: kept };
}
