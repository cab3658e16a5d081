import { difference, type FieldSet, intersection, isEmpty, noFields, union } from './fieldpath/field-set.ts';
import type { ManagedFields } from './managed-fields.ts';
import type { MergeType } from './typed/merge-type.ts';
import { fieldsOf, withNamedFields } from './typed/typed-fields.ts';
import { removeFields } from './typed/typed-remove.ts';

/**
 * Removes from `merged` the fields in `last` (the applier's previous configuration) that `next` omits, unless another manager owns them.
 * Keeps fields without an owner (defaults), unless their parent is removed. Follows Updater.prune of structured-merge-diff.
 */
export function prune(
  type: MergeType,
  merged: unknown,
  owners: ManagedFields,
  last: FieldSet,
  next: FieldSet,
): unknown {
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
