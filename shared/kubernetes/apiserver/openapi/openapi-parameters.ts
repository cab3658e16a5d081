/** A parameter of an operation, in OpenAPI 3.0 format. */
export interface Parameter {
  name: string;
  in: 'query' | 'path';
  description: string;
  required?: true;
  schema: { type: 'string' | 'integer' | 'boolean'; uniqueItems: true };
}

export function query(name: string, type: Parameter['schema']['type'], description: string): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function path(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}

export const namespaceParameter = path('namespace', 'The namespace of the objects.');

export function nameParameter(kind: string): Parameter {
  return path('name', `Name of the ${kind}.`);
}

/** Parameter of every operation. */
export const pretty = query('pretty', 'string', 'Whether the response is indented.');

const dryRun = query('dryRun', 'string', 'All: run every stage without storing anything.');
const labelSelector = query('labelSelector', 'string', 'Only objects with these labels.');
const fieldSelector = query('fieldSelector', 'string', 'Only objects with these field values.');

/** Parameters of create, update and patch. kubectl relies on server-side validation only if PATCH has fieldValidation. */
export const writeParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', 'string', 'Name of the manager of the change: at most 128 printable characters.'),
  query(
    'fieldValidation',
    'string',
    'Handling of unknown and duplicate fields: Ignore, Warn (the default) or Strict, which refuses them.',
  ),
];

/** Parameter of patch. */
export const forceParameter = query(
  'force',
  'boolean',
  'Take over fields that another manager owns. Apply only.',
);

/** Parameters of delete and deletecollection. */
export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Grace period in seconds before removal.'),
  query('orphanDependents', 'boolean', 'Deprecated in favour of propagationPolicy.'),
  query('propagationPolicy', 'string', 'How dependents are deleted: Orphan, Background or Foreground.'),
];

/** Additional parameters of deletecollection. */
export const selectorParameters: readonly Parameter[] = [labelSelector, fieldSelector];

/** Parameters of list and watch. */
export const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch may send BOOKMARK events.'),
  query('continue', 'string', 'The continue token of the previous page.'),
  fieldSelector,
  labelSelector,
  query('limit', 'integer', 'Maximum number of items per page.'),
  query('resourceVersion', 'string', 'Minimum version of the response; the start of a watch.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion applies: Exact or NotOlderThan.'),
  query(
    'sendInitialEvents',
    'boolean',
    'A watch begins with the existing objects, followed by an annotated BOOKMARK.',
  ),
  query('timeoutSeconds', 'integer', 'Timeout of a watch in seconds.'),
  query('watch', 'boolean', 'Follow changes instead of listing.'),
];
