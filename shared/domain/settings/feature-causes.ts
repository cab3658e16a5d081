import type { Cause } from '#shared/base/errors';
import { canonicalJson, isRecord, type KubeObject } from '#shared/base/meta';
import { annotations } from '../kinds/well-known.ts';
import { type Feature, isOn, type Settings } from './settings.ts';

/** The fields of each kind that need a feature; `[]` is every item of a list. */
const fields: Record<string, Partial<Record<Feature, readonly string[]>>> = {
  Order: {
    cron: ['spec.defaults.cron', 'spec.artifacts[].cron'],
    ttl: ['spec.ttl', 'spec.ttlSecondsAfterCompletion'],
  },
  ArtifactWorkflow: {
    cron: ['spec.cron'],
    ttl: ['spec.ttlAfterFinished', 'spec.ttlAfterFailed'],
  },
  ArtifactType: { ttl: ['spec.ttlAfterFinished', 'spec.ttlAfterFailed'] },
  ClusterArtifactType: { ttl: ['spec.ttlAfterFinished', 'spec.ttlAfterFailed'] },
};

const names: Partial<Record<Feature, string>> = { cron: 'schedules', ttl: 'times to live', probes: 'probes' };

/** Returns the fields of an object that have no effect because their feature is switched off. Fields that an update leaves alone are not judged. */
export function featureCauses(object: KubeObject, old: KubeObject | undefined, settings: Settings): Cause[] {
  const needing = Object.entries(fields[object.kind ?? ''] ?? {}) as [Feature, readonly string[]][];
  return [
    ...needing.flatMap(([feature, paths]) =>
      isOn(feature, settings) ? [] : paths.flatMap((path) => fieldCauses(feature, path, object, old)),
    ),
    ...(isOn('probes', settings) ? [] : probeCauses(object, old)),
  ];
}

function fieldCauses(
  feature: Feature,
  path: string,
  object: KubeObject,
  old: KubeObject | undefined,
): Cause[] {
  const known = new Set(valuesAt(old, path).map(([, value]) => canonicalJson(value)));
  return valuesAt(object, path).flatMap(([field, value]) =>
    known.has(canonicalJson(value)) ? [] : [forbidden(feature, field)],
  );
}

function probeCauses({ kind, metadata }: KubeObject, old: KubeObject | undefined): Cause[] {
  const asked = metadata.annotations?.[annotations.probeAt];
  if (kind !== 'Endpoint' || asked === undefined) return [];
  if (asked === old?.metadata.annotations?.[annotations.probeAt]) return [];
  return [forbidden('probes', `metadata.annotations[${annotations.probeAt}]`)];
}

function forbidden(feature: Feature, field: string): Cause {
  const message = `Forbidden: ${names[feature] ?? feature} are switched off: features.${feature} of the operator's settings`;
  return { reason: 'FieldValueForbidden', field, message };
}

/** Returns the values at a path, each with its own path. */
function valuesAt(object: unknown, path: string): [string, unknown][] {
  let found: [string, unknown][] = [['', object]];
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    found = found.flatMap(([at, value]) => {
      const inner = isRecord(value) ? value[name] : undefined;
      const here = at === '' ? name : `${at}.${name}`;
      if (inner === undefined) return [];
      if (!step.endsWith('[]')) return [[here, inner] as [string, unknown]];
      const items: unknown[] = Array.isArray(inner) ? inner : [];
      return items.map((item, index): [string, unknown] => [`${here}[${index}]`, item]);
    });
  }
  return found;
}
