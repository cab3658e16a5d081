import { isDeepStrictEqual } from 'node:util';
import { ArcError, printable } from '#shared/base/errors';
import type { KubeObject } from '../kinds/definition.ts';
import { conflictError, listConflicts } from './conflict.ts';
import { isEmpty, without } from './fieldpath/field-set.ts';
import { keptByLastApplied, withLastApplied } from './last-applied.ts';
import {
  identityOf,
  listManaged,
  type Managed,
  type ManagedFieldsEntry,
  nobody,
  storedManaged,
  withFields,
} from './managed-fields.ts';
import { afterChange, conflictsOf, ignoredBy, ownable, upToDate } from './ownership.ts';
import { prune } from './prune.ts';
import { updated, type Writer, withoutOwners } from './track-update.ts';
import { faultText, typeFaults } from './typed/check-typed.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { compareTyped } from './typed/typed-compare.ts';
import { fieldsOf } from './typed/typed-fields.ts';
import { mergeTyped } from './typed/typed-merge.ts';

/** The result of an apply: the object, not yet defaulted or validated and without managedFields, and the owners of its fields. */
export interface Applied {
  object: KubeObject;
  managedFields: ManagedFieldsEntry[] | undefined;
}

/** The owner of fields that an object had before its first apply, when they were not tracked. */
const untracked = 'before-first-apply';

/** The manager whose client-side apply left a last-applied annotation that is still valid. */
const kubectl = 'kubectl';

/**
 * Server-side apply: merges `config` into `live` (undefined when there is no object yet). Fields that the writer applied
 * before and leaves out now are removed, unless another manager owns them. A field that another manager owns and that would
 * change is a Conflict; with `force` the writer takes it. Rejects with BadRequest for fields that the schema does not know.
 * It yields between its steps, each of which takes tens of ms for a large object: others may run then.
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
    stored.size === 0 && live ? updated({ ...writer, manager: untracked }, undefined, live, nobody) : stored;
  const before = withoutOwners(live) ?? {
    apiVersion: config.apiVersion,
    kind: config.kind,
    metadata: { name: '' },
  };
  const current = upToDate(managed, writer.definition, writer.apiVersion);
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
  managed: Managed,
  force: boolean,
): Generator<void, Applied> {
  const { definition, apiVersion, manager, subresource, time } = writer;
  const type = mergeTypeOf(definition);
  const ignored = ignoredBy(subresource, definition.status);
  const base = { manager, operation: 'Apply', apiVersion } as const;
  const identity = identityOf({ ...base, subresource });
  const last = managed.get(identity);
  const fields = without(fieldsOf(type, config), ignored);
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
    const kept = manager === kubectl ? keptByLastApplied(type, live) : undefined;
    const open = listConflicts(owners, conflicts, kept);
    if (open.total > 0) throw conflictError(open);
  }
  yield;
  const after = afterChange(owners, changes, identity);
  yield;
  const own = ownable(fields);
  if (isEmpty(own)) after.delete(identity);
  else if (isUnchanged(last, own) && same && last) after.set(identity, last);
  else after.set(identity, withFields({ ...base, ...timeOf(same, last, time), ...rest }, own));
  return { object, managedFields: listManaged(after) };
}

function isUnchanged(last: ManagedFieldsEntry | undefined, own: object): boolean {
  return last !== undefined && isDeepStrictEqual(last.fieldsV1, own);
}

/** The time of the last apply that changed the object. An apply that only gains shared ownership sets none, as in Kubernetes. */
function timeOf(same: boolean, last: ManagedFieldsEntry | undefined, now: string): { time?: string } {
  if (!same) return { time: now };
  return last?.time === undefined ? {} : { time: last.time };
}
