import { ArcError, type Cause } from '#shared/errors';
import { type FieldSet, pathsOf } from './field-set.ts';
import { compareText, type Managed, type ManagedFieldsEntry } from './managed-fields.ts';
import { type PathElement, showPath } from './path-element.ts';

/** One field that somebody else owns and the applier wants otherwise. */
export interface Conflict {
  identity: string;
  entry: ManagedFieldsEntry;
  path: PathElement[];
}

/** The conflicts one by one, by owner. */
export function listConflicts(managed: Managed, conflicts: ReadonlyMap<string, FieldSet>): Conflict[] {
  return [...conflicts]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([identity, fields]) => {
      const entry = managed.get(identity);
      return entry ? pathsOf(fields).map((path) => ({ identity, entry, path })) : [];
    });
}

/** 409 with one cause per field, in the words of k8s.io/apimachinery managedfields: people and tools read it. */
export function conflictError(conflicts: readonly Conflict[]): ArcError {
  const causes: Cause[] = conflicts.map(({ entry, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${showManager(entry)}`,
    field: showPath(path),
  }));
  return new ArcError('Conflict', conflictMessage(conflicts), { details: { causes } });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${showManager(first.entry)}: ${showPath(first.path)}`;
  }
  const lines: string[] = [];
  let manager: string | undefined;
  for (const { identity, entry, path } of conflicts) {
    if (identity !== manager) lines.push(`conflicts with ${showManager(entry)}:`);
    manager = identity;
    lines.push(`- ${showPath(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function showManager({ manager = '', subresource, operation, apiVersion }: ManagedFieldsEntry): string {
  const endpoint = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${endpoint}${version}`;
}
