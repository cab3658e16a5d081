import { isRecord } from '#shared/base/meta';
import type { KubeObject } from '../kinds/definition.ts';
import { difference, has, noFields } from './fieldpath/field-set.ts';
import type { PathElement } from './fieldpath/path-element.ts';
import type { MergeType } from './typed/merge-type.ts';
import { compareTyped } from './typed/typed-compare.ts';
import { fieldsOf } from './typed/typed-fields.ts';

/** The annotation in which kubectl's client-side apply stores its configuration. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns a predicate for fields that are unchanged since kubectl's last client-side apply: its server-side apply may take them over from
 * their owner. Undefined if the annotation is missing or invalid.
 */
export function unchangedSinceLastApplied(
  type: MergeType,
  live: KubeObject,
): ((path: readonly PathElement[]) => boolean) | undefined {
  const lastApplied = parse(live.metadata.annotations?.[annotation] ?? '');
  if (!lastApplied || lastApplied.apiVersion !== live.apiVersion) return undefined;
  const { added, modified, removed } = compareTyped(type, lastApplied, live, noFields);
  const kept = [modified, added, removed].reduce(difference, fieldsOf(type, lastApplied));
  return (path) => has(kept, path);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (caught) {
    // Users can edit the annotation: invalid JSON is ignored.
    if (caught instanceof SyntaxError) return undefined;
    throw caught;
  }
}

/** Updates the annotation, if present, for clients that still use client-side apply. */
export function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[annotation]) return object;
  const { annotations: own = {}, ...metadata } = config.metadata;
  const { [annotation]: _last, ...others } = own;
  const recorded = {
    ...config,
    metadata: Object.keys(own).length > 0 ? { ...metadata, annotations: others } : metadata,
  };
  const text = `${JSON.stringify(sortedKeys(recorded))}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: text } } };
}

/** Sorts keys, as Go serializes maps. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isRecord(value)) return value;
  const entries = Object.keys(value)
    .sort()
    .map((name) => [name, sortedKeys(value[name])]);
  return Object.fromEntries(entries);
}
