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
 * A predicate for fields that are still as kubectl's client-side apply left them: its server-side apply may take these from
 * their recorded owner. Undefined when the annotation is absent or unreadable.
 */
export function keptByLastApplied(
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
    // Users may write the annotation: text that is not JSON is ignored.
    if (caught instanceof SyntaxError) return undefined;
    throw caught;
  }
}

/** Updates the annotation, if there is one, for clients that still use client-side apply. */
export function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[annotation]) return object;
  const { annotations: own = {}, ...metadata } = config.metadata;
  const { [annotation]: _last, ...others } = own;
  const noted = {
    ...config,
    metadata: Object.keys(own).length > 0 ? { ...metadata, annotations: others } : metadata,
  };
  const text = `${JSON.stringify(sortedKeys(noted))}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: text } } };
}

/** With sorted keys, as Go writes maps. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isRecord(value)) return value;
  const entries = Object.keys(value)
    .sort()
    .map((name) => [name, sortedKeys(value[name])]);
  return Object.fromEntries(entries);
}
