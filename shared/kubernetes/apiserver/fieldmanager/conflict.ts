import { ArcError, type Cause, printable } from '#shared/base/errors';
import { eachPath, type FieldSet } from './fieldpath/field-set.ts';
import { compareText, type PathElement, showPath } from './fieldpath/path-element.ts';
import type { ManagedFields, ManagedFieldsEntry } from './managed-fields.ts';

/** A field that another manager owns and that the applier would change. */
export interface Conflict {
  identity: string;
  entry: ManagedFieldsEntry;
  path: PathElement[];
}

/** Limit of listed conflicts, each of which is a cause and a line of the response. All conflicts are counted. */
const maxListed = 1000;

export interface Conflicts {
  total: number;
  /** The first thousand conflicts, sorted by owner. */
  listed: Conflict[];
}

/** Returns the conflicting fields, except for those that the applier may take over. */
export function listConflicts(
  managed: ManagedFields,
  conflicts: ReadonlyMap<string, FieldSet>,
  mayTakeOver: (path: readonly PathElement[]) => boolean = () => false,
): Conflicts {
  const result: Conflicts = { total: 0, listed: [] };
  for (const [identity, fields] of [...conflicts].sort(([a], [b]) => compareText(a, b))) {
    const entry = managed.get(identity);
    if (!entry) continue;
    for (const path of eachPath(fields)) {
      if (mayTakeOver(path)) continue;
      result.total++;
      if (result.listed.length < maxListed) result.listed.push({ identity, entry, path: [...path] });
    }
  }
  return result;
}

/** Returns the 409 with one cause per field, in the words of k8s.io/apimachinery managedfields, which tools parse. */
export function conflictError(conflicts: Conflicts): ArcError {
  const causes: Cause[] = conflicts.listed.map(({ entry, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${showManager(entry)}`,
    field: showPath(path),
  }));
  return new ArcError('Conflict', conflictMessage(conflicts), { details: { causes }, multiline: true });
}

function conflictMessage({ total, listed }: Conflicts): string {
  const [first] = listed;
  if (first && total === 1) {
    return printable(
      `Apply failed with 1 conflict: conflict with ${showManager(first.entry)}: ${showPath(first.path)}`,
    );
  }
  const lines: string[] = [];
  let manager: string | undefined;
  for (const { identity, entry, path } of listed) {
    if (identity !== manager) lines.push(printable(`conflicts with ${showManager(entry)}:`));
    manager = identity;
    lines.push(printable(`- ${showPath(path)}`));
  }
  return `Apply failed with ${total} conflicts: ${lines.join('\n')}`;
}

function showManager({ manager = '', subresource, operation, apiVersion }: ManagedFieldsEntry): string {
  const endpoint = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${endpoint}${version}`;
}
