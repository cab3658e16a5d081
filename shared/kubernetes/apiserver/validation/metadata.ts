import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { KindDefinition, ObjectMeta, OwnerReference } from '../kinds/definition.ts';
import { labelNameFaults, labelValueFaults, qualifiedFaults, subdomainFaults } from './name-rules.ts';

/** Bytes of all keys and values: of annotations as in Kubernetes, of labels because each is compared with those of every selector. */
const mapLimit = 256 * 1024;
/** Finalizers of one object. Each stands for a controller that holds it. */
const finalizerLimit = 100;

/** Longest name that generateName's five random characters may be added to. */
export const generatedPrefix = 58;

const bad = (field: string, value: unknown, text: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown(value)}: ${text}`,
  field,
});

/** A value as an error message quotes it: JSON, cut to a readable length. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/**
 * Checks the metadata of any object (k8s.io/apimachinery, api/validation); valid metadata gives an empty list. What is too large is
 * found first, and nothing else is then looked at. `old`: the object before an update, which may keep what is beyond our own limits.
 */
export function metadataCauses(
  definition: KindDefinition,
  metadata: ObjectMeta,
  old?: ObjectMeta | undefined,
): Cause[] {
  const tooLarge = [
    ...mapSize('metadata.labels', metadata.labels, old?.labels),
    ...mapSize('metadata.annotations', metadata.annotations, undefined),
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
/** RFC 3339, as Go reads a metav1.Time. */
const isTime = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[-+]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value.replace(',', '.')));

/** Items of these fields may lack a field or have null there. */
const hasTypes =
  (texts: readonly string[], flags: readonly string[], times: readonly string[]) => (item: unknown) =>
    isRecord(item) &&
    texts.every((field) => item[field] == null || typeof item[field] === 'string') &&
    flags.every((field) => item[field] == null || typeof item[field] === 'boolean') &&
    times.every((field) => item[field] == null || isTime(item[field]));
const isOwner = hasTypes(['apiVersion', 'kind', 'name', 'uid'], ['controller', 'blockOwnerDeletion'], []);
const managerTexts = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'];
const isManager = hasTypes(managerTexts, [], ['time']);
const isListOf = (fits: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(fits);

const fieldTypes: [field: string, wanted: string, holds: (value: unknown) => boolean][] = [
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

/** The first field of the wrong type, as `metadata.labels must be a map of strings`; undefined when all types are right. */
export function metadataTypeFault(metadata: Record<string, unknown>): string | undefined {
  for (const [field, wanted, holds] of fieldTypes) {
    const value = metadata[field];
    if (value !== undefined && value !== null && !holds(value)) return `metadata.${field} must be ${wanted}`;
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

/** A prefix may end in a dash, since characters follow it. As in Kubernetes the one before it is not looked at. */
function generateNameCauses(definition: KindDefinition, prefix: string | undefined): Cause[] {
  if (!prefix) return [];
  // Kubernetes asks of an Event only that its name fits into a path: clients call them `<object>.<what makes it unique>`.
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
    // Annotation keys are checked in lower case, as in Kubernetes.
    const keyFaults = qualifiedFaults(checkValues ? key : key.toLowerCase());
    const valueFaults = checkValues ? labelValueFaults(value) : [];
    return [
      ...keyFaults.map((text) => bad(field, key, text)),
      ...valueFaults.map((text) => bad(field, value, text)),
    ];
  });
}

type Texts = Record<string, string> | undefined;

function mapSize(field: string, texts: Texts, old: Texts): Cause[] {
  let size = 0;
  for (const [key, value] of Object.entries(texts ?? {}))
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (size <= mapLimit || (old && isDeepStrictEqual(texts, old))) return [];
  const message = `Too long: may not be more than ${mapLimit} bytes`;
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

/** Warnings about new finalizers that are valid but probably not intended. */
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

const fixed = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** Checks the fields that an update must not change. The caller has filled in omitted fields from the old object. */
export function immutableCauses(metadata: ObjectMeta, old: ObjectMeta): Cause[] {
  const causes = fixed
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
