import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { KindDefinition, ObjectMeta, OwnerReference } from '../kinds/definition.ts';
import { labelNameFaults, labelValueFaults, qualifiedFaults, subdomainFaults } from './name-rules.ts';

/** Total size of annotations, as in Kubernetes, and of labels, which are compared with every selector. */
const mapLimit = 256 * 1024;
/** Limit of finalizers per object. */
const finalizerLimit = 100;

/** Limit of a generateName prefix, to which five random characters are appended. */
export const generatedPrefix = 58;

const bad = (field: string, value: unknown, text: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown(value)}: ${text}`,
  field,
});

/** Formats a value for an error message: as JSON, truncated. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/**
 * Returns the errors of an object's metadata, as in k8s.io/apimachinery, api/validation. Checks sizes first, and skips the other rules if a
 * size limit is exceeded. On update, `old` may keep labels, annotations and finalizers above the limits, which are not those of Kubernetes.
 */
export function metadataCauses(
  definition: KindDefinition,
  metadata: ObjectMeta,
  old?: ObjectMeta | undefined,
): Cause[] {
  const tooLarge = [
    ...mapSize('metadata.labels', metadata.labels, old?.labels, definition.metadataLimit),
    ...mapSize('metadata.annotations', metadata.annotations, old?.annotations, definition.metadataLimit),
    ...finalizerCount(metadata.finalizers, old?.finalizers),
  ];
  if (tooLarge.length > 0) return tooLarge;
  return [
    ...generateNameCauses(definition, metadata.generateName),
    ...nameCauses(definition, metadata.name),
    ...mapCauses('metadata.labels', metadata.labels, true),
    ...mapCauses('metadata.annotations', metadata.annotations, false),
    ...(metadata.finalizers ?? []).flatMap(finalizerCauses),
    ...ownersCauses(metadata.ownerReferences ?? []),
  ];
}

const isText = (value: unknown) => typeof value === 'string';
const isTextMap = (value: unknown) => isRecord(value) && Object.values(value).every(isText);
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);
const isInteger = (value: unknown) => Number.isSafeInteger(value);
/** RFC 3339, as Go parses a metav1.Time. */
const isTime = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[-+]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value.replace(',', '.')));

/** Returns a type check of list items whose fields may be absent or null. */
const hasTypes =
  (texts: readonly string[], flags: readonly string[], times: readonly string[]) => (item: unknown) =>
    isRecord(item) &&
    texts.every((field) => item[field] == null || typeof item[field] === 'string') &&
    flags.every((field) => item[field] == null || typeof item[field] === 'boolean') &&
    times.every((field) => item[field] == null || isTime(item[field]));
const isOwner = hasTypes(['apiVersion', 'kind', 'name', 'uid'], ['controller', 'blockOwnerDeletion'], []);
const managerTexts = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'];
const isManager = hasTypes(managerTexts, [], ['time']);
const isListOf = (matches: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(matches);

const fieldTypes: [field: string, type: string, matches: (value: unknown) => boolean][] = [
  ...['name', 'namespace', 'generateName', 'uid', 'resourceVersion', 'selfLink'].map(
    (field): [string, string, (value: unknown) => boolean] => [field, 'a string', isText],
  ),
  ['creationTimestamp', 'a time such as 2006-01-02T15:04:05Z', isTime],
  ['deletionTimestamp', 'a time such as 2006-01-02T15:04:05Z', isTime],
  ['generation', 'a whole number', isInteger],
  ['deletionGracePeriodSeconds', 'a whole number', isInteger],
  ['labels', 'a map of strings', isTextMap],
  ['annotations', 'a map of strings', isTextMap],
  ['finalizers', 'a list of strings', isTextList],
  ['ownerReferences', 'a list of owner references', isListOf(isOwner)],
  ['managedFields', 'a list of managers', isListOf(isManager)],
];

/** Describes the first field of a wrong type, such as `metadata.labels must be a map of strings`; undefined if all types match. */
export function metadataTypeFault(metadata: Record<string, unknown>): string | undefined {
  for (const [field, type, matches] of fieldTypes) {
    const value = metadata[field];
    if (value !== undefined && value !== null && !matches(value)) return `metadata.${field} must be ${type}`;
  }
  return undefined;
}

function nameCauses(definition: KindDefinition, name: string): Cause[] {
  const field = 'metadata.name';
  if (name === '') {
    return [
      { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field },
    ];
  }
  return nameFaults(definition, name).map((text) => bad(field, name, text));
}

function nameFaults(definition: KindDefinition, name: string): string[] {
  const isNamespace = definition.group === '' && definition.plural === 'namespaces';
  return isNamespace ? labelNameFaults(name) : subdomainFaults(name);
}

/** A prefix may end in a dash, since characters follow it. Like Kubernetes, ignores the character before that dash. */
function generateNameCauses(definition: KindDefinition, prefix: string | undefined): Cause[] {
  if (!prefix) return [];
  // Kubernetes requires only that the name of an Event is a valid path segment: clients name it `<object>.<unique suffix>`.
  const isEvent = definition.group === '' && definition.plural === 'events';
  if (isEvent) return subdomainFaults(`${prefix}a`).map((text) => bad('metadata.generateName', prefix, text));
  const faults = nameFaults(definition, prefix.length > 1 ? prefix.replace(/.-$/s, 'a') : prefix);
  return faults.map((text) => bad('metadata.generateName', prefix, text));
}

function mapCauses(
  field: string,
  entries: Record<string, string> | undefined,
  checkValues: boolean,
): Cause[] {
  return Object.entries(entries ?? {}).flatMap(([key, value]) => {
    // Kubernetes checks annotation keys in lower case.
    const keyFaults = qualifiedFaults(checkValues ? key : key.toLowerCase());
    const valueFaults = checkValues ? labelValueFaults(value) : [];
    return [
      ...keyFaults.map((text) => bad(field, key, text)),
      ...valueFaults.map((text) => bad(field, value, text)),
    ];
  });
}

type Texts = Record<string, string> | undefined;

function mapSize(field: string, texts: Texts, old: Texts, limit = mapLimit): Cause[] {
  let size = 0;
  for (const [key, value] of Object.entries(texts ?? {}))
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (size <= limit || (old && isDeepStrictEqual(texts, old))) return [];
  const message = `Too long: may not be more than ${limit} bytes`;
  return [{ reason: 'FieldValueTooLong', message, field }];
}

function finalizerCount(names: readonly string[] = [], old: readonly string[] = []): Cause[] {
  if (names.length <= finalizerLimit) return [];
  const known = new Set(old);
  if (names.length <= old.length && names.every((name) => known.has(name))) return [];
  const message = `Too many: ${names.length}: must have at most ${finalizerLimit} items`;
  return [{ reason: 'FieldValueTooMany', message, field: 'metadata.finalizers' }];
}

function finalizerCauses(name: string): Cause[] {
  return qualifiedFaults(name).map((text) => bad('metadata.finalizers', name, text));
}

/** Returns warnings about new finalizers that are valid but probably unintended. */
export function metadataWarnings(metadata: ObjectMeta, old: ObjectMeta | undefined): string[] {
  const known = new Set(old?.finalizers);
  const fresh = (metadata.finalizers ?? []).filter((name) => !known.has(name));
  return fresh
    .filter((name) => !name.includes('/') && !standardFinalizers.has(name))
    .map(
      (name) =>
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}
const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function ownersCauses(owners: readonly OwnerReference[]): Cause[] {
  const field = 'metadata.ownerReferences';
  const [first, second] = owners.filter(({ controller }) => controller === true);
  const causes = owners.flatMap(ownerCauses);
  if (!first || !second) return causes;
  const named = ({ kind, name }: OwnerReference) => `${kind}/${name}`;
  const text = `Only one reference can have Controller set to true. Found "true" in references for ${named(first)} and ${named(second)}`;
  return [...causes, bad(field, owners, text)];
}

function ownerCauses(owner: object): Cause[] {
  const fields: Record<string, unknown> = { ...owner };
  return ['apiVersion', 'kind', 'name', 'uid'].flatMap((name) => {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return [];
    const text = name === 'apiVersion' ? 'version must not be empty' : 'must not be empty';
    return [bad(`metadata.ownerReferences.${name}`, value ?? '', text)];
  });
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** Returns errors of immutable fields that an update changes. Expects omitted fields to be filled in from the old object. */
export function immutableCauses(metadata: ObjectMeta, old: ObjectMeta): Cause[] {
  const causes = immutableFields
    .filter((field) => !isDeepStrictEqual(metadata[field], old[field]))
    .map((field) => bad(`metadata.${field}`, metadata[field] ?? null, 'field is immutable'));
  if (old.deletionTimestamp === undefined) return causes;
  const known = new Set(old.finalizers);
  const added = (metadata.finalizers ?? []).filter((name) => !known.has(name));
  if (added.length === 0) return causes;
  const list = added.map((name) => JSON.stringify(name)).join(', ');
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [...causes, { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }];
}
