import { difference, type FieldSet, intersection, isEmpty, noFields, union } from './fieldpath/field-set.ts';
import type { Managed } from './managed-fields.ts';
import type { MergeType } from './typed/merge-type.ts';
import { fieldsOf, withNamedFields } from './typed/typed-fields.ts';
import { removeFields } from './typed/typed-remove.ts';

/**
 * `merged` without the fields that the applier owned by its last configuration and leaves out of this one (`last` and `next`),
 * unless another manager owns them. Fields without an owner (defaults) stay, unless their parent is removed.
 * The steps are those of structured-merge-diff, Updater.prune.
 */
export function prune(
  type: MergeType,
  merged: unknown,
  owners: Managed,
  last: FieldSet,
  next: FieldSet,
): unknown {
  // An applier that still applies all its fields drops nothing.
  if (isEmpty(difference(last, next))) return merged;
  const lastNamed = withNamedFields(type, last);
  const mergedSet = withNamedFields(type, fieldsOf(type, merged));
  const bare = removeFields(type, merged, lastNamed);
  const owned = [...owners.values()].map(({ fieldsV1 }) => fieldsV1).reduce(union, noFields);
  const kept = union(withNamedFields(type, fieldsOf(type, bare)), withNamedFields(type, owned));
  const withOwned = removeFields(type, merged, difference(mergedSet, kept));
  const remaining = withNamedFields(type, fieldsOf(type, withOwned));
  return removeFields(type, merged, intersection(difference(mergedSet, remaining), lastNamed));
}
