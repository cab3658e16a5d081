/** A parameter of an operation, in OpenAPI 3.0 form. */
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

/** On every operation. */
export const pretty = query('pretty', 'string', 'true or false: whether the answer is indented.');

const dryRun = query('dryRun', 'string', 'All: go through every stage, write nothing.');
const labelSelector = query('labelSelector', 'string', 'Only objects with these labels.');
const fieldSelector = query('fieldSelector', 'string', 'Only objects with these field values.');

/** Of create, update and patch. kubectl leaves validation to the server only when PATCH has fieldValidation. */
export const writeParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', 'string', 'Who makes the change: at most 128 printable characters.'),
  query(
    'fieldValidation',
    'string',
    'What unknown and duplicate fields lead to: Ignore, Warn (the default) or Strict, which refuses them.',
  ),
];

/** Of patch alone. */
export const forceParameter = query(
  'force',
  'boolean',
  'Take over fields that another manager owns. Apply only.',
);

/** Of delete and deletecollection. */
export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds to wait before removal.'),
  query('orphanDependents', 'boolean', 'Deprecated in favour of propagationPolicy.'),
  query('propagationPolicy', 'string', 'What happens to owned objects: Orphan, Background or Foreground.'),
];

/** Of deletecollection beside those of delete. */
export const selectorParameters: readonly Parameter[] = [labelSelector, fieldSelector];

/** Of list and watch. */
export const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch may send BOOKMARK events.'),
  query('continue', 'string', 'The token of the page before.'),
  fieldSelector,
  labelSelector,
  query('limit', 'integer', 'At most this many items in one page.'),
  query('resourceVersion', 'string', 'How fresh the answer must be; where a watch starts.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'A watch begins with the present objects and a marked BOOKMARK.'),
  query('timeoutSeconds', 'integer', 'How long a watch lasts.'),
  query('watch', 'boolean', 'Follow changes instead of listing.'),
];
