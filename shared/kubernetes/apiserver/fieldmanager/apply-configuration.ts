import { isDeepStrictEqual } from 'node:util';
import { ArcError, printable } from '#shared/base/errors';
import type { KubeObject } from '../kinds/definition.ts';
import { conflictError, listConflicts } from './conflict.ts';
import { isEmpty, recursiveDifference } from './fieldpath/field-set.ts';
import { unchangedSinceLastApplied, withLastApplied } from './last-applied.ts';
import {
  identityOf,
  type ManagedFields,
  type ManagedFieldsEntry,
  noOwners,
  sortedEntries,
  storedManaged,
  withFields,
} from './managed-fields.ts';
import {
  conflictsOf,
  fieldsIgnoredBy,
  ownable,
  ownersAfterChange,
  reconcileWithSchema,
} from './ownership.ts';
import { prune } from './prune.ts';
import { ownersAfterUpdate, type Writer, withoutManagedFields } from './track-update.ts';
import { faultText, typeFaults } from './typed/check-typed.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { compareTyped } from './typed/typed-compare.ts';
import { fieldsOf } from './typed/typed-fields.ts';
import { mergeTyped } from './typed/typed-merge.ts';

/** The result of an apply: the object before defaulting and validation, without managedFields, and its managedFields. */
export interface Applied {
  object: KubeObject;
  managedFields: ManagedFieldsEntry[] | undefined;
}

/** The manager of fields that were set before the first apply, when ownership was not tracked. */
const untracked = 'before-first-apply';

/** The manager of kubectl's client-side apply, whose last-applied annotation is taken into account. */
const kubectl = 'kubectl';

/**
 * Server-side apply: merges `config` into `live` (undefined if the object does not exist). Removes fields that the manager applied before and
 * omits now, unless another manager owns them. Throws Conflict if a field of another manager would change; with `force` the manager takes
 * ownership. Throws BadRequest for unknown fields. Yields between steps, each of which takes tens of milliseconds for a large object, so
 * that the caller can yield to the event loop.
 * See docs/decisions/0013-own-server-side-apply.md.
 */
export function* applyConfiguration(
  writer: Writer,
  live: KubeObject | undefined,
  config: KubeObject,
  force: boolean,
): Generator<void, Applied> {
  const faults = typeFaults(mergeTypeOf(writer.definition), config);
  if (faults.length > 0) {
    const { name, namespace = '' } = config.metadata;
    const about = `${namespace}/${name}; ${config.apiVersion}, Kind=${config.kind}`;
    const message = `failed to create typed patch object (${printable(about)}): ${faultText(faults)}`;
    throw new ArcError('BadRequest', message, { multiline: true });
  }
  yield;
  const stored = storedManaged(live?.metadata.managedFields);
  const managed =
    stored.size === 0 && live
      ? ownersAfterUpdate({ ...writer, manager: untracked }, undefined, live, noOwners)
      : stored;
  const before = withoutManagedFields(live) ?? {
    apiVersion: config.apiVersion,
    kind: config.kind,
    metadata: { name: '' },
  };
  const current = reconcileWithSchema(managed, writer.definition, writer.apiVersion);
  yield;
  const applied = yield* applyTo(writer, before, config, current, force);
  return writer.manager === kubectl
    ? { ...applied, object: withLastApplied(applied.object, config) }
    : applied;
}

function* applyTo(
  writer: Writer,
  live: KubeObject,
  config: KubeObject,
  managed: ManagedFields,
  force: boolean,
): Generator<void, Applied> {
  const { definition, apiVersion, manager, subresource, time } = writer;
  const type = mergeTypeOf(definition);
  const ignored = fieldsIgnoredBy(subresource, definition.status);
  const base = { manager, operation: 'Apply', apiVersion } as const;
  const identity = identityOf({ ...base, subresource });
  const last = managed.get(identity);
  const fields = recursiveDifference(fieldsOf(type, config), ignored);
  yield;
  const merged = mergeTyped(type, live, config);
  yield;
  const owners = new Map(managed);
  const rest = { fieldsType: 'FieldsV1', fieldsV1: fields, ...(subresource && { subresource }) } as const;
  owners.set(identity, { ...base, ...(last?.time !== undefined && { time: last.time }), ...rest });
  const object = (last ? prune(type, merged, owners, last.fieldsV1, fields) : merged) as KubeObject;
  yield;
  const same = isDeepStrictEqual(object, live);
  const changes = compareTyped(type, live, same ? live : object, ignored);
  yield;
  const conflicts = conflictsOf(owners, changes, identity);
  if (!force && conflicts.size > 0) {
    const kept = manager === kubectl ? unchangedSinceLastApplied(type, live) : undefined;
    const open = listConflicts(owners, conflicts, kept);
    if (open.total > 0) throw conflictError(open);
  }
  yield;
  const after = ownersAfterChange(owners, changes, identity);
  yield;
  const own = ownable(fields);
  if (isEmpty(own)) after.delete(identity);
  else if (isUnchanged(last, own) && same && last) after.set(identity, last);
  else after.set(identity, withFields({ ...base, ...timeOf(same, last, time), ...rest }, own));
  return { object, managedFields: sortedEntries(after) };
}

function isUnchanged(last: ManagedFieldsEntry | undefined, own: object): boolean {
  return last !== undefined && isDeepStrictEqual(last.fieldsV1, own);
}

/** The time of the last apply that changed the object. As in Kubernetes, an apply that only gains shared ownership keeps it. */
function timeOf(same: boolean, last: ManagedFieldsEntry | undefined, now: string): { time?: string } {
  if (!same) return { time: now };
  return last?.time === undefined ? {} : { time: last.time };
}
