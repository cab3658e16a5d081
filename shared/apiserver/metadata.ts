import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/errors';
import type { KindDefinition, ObjectMeta } from './definition.ts';
import { isRecord } from './request-body.ts';

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const annotationLimit = 256 * 1024;

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
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The rules every object's metadata keeps (k8s.io/apimachinery, api/validation); an empty list is a pass. */
export function metadataCauses(definition: KindDefinition, metadata: ObjectMeta): Cause[] {
  return [
    ...nameCauses(definition, metadata.name),
    ...mapCauses('metadata.labels', metadata.labels, true),
    ...mapCauses('metadata.annotations', metadata.annotations, false),
    ...annotationSize(metadata.annotations),
    ...(metadata.finalizers ?? []).flatMap((name, index) => finalizerCauses(name, index)),
    ...(metadata.ownerReferences ?? []).flatMap((owner, index) => ownerCauses(owner, index)),
  ];
}

const isText = (value: unknown) => typeof value === 'string';
const isTextMap = (value: unknown) => isRecord(value) && Object.values(value).every(isText);
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);
const isObjectList = (value: unknown) => Array.isArray(value) && value.every(isRecord);

const fieldTypes: [field: string, wanted: string, holds: (value: unknown) => boolean][] = [
  ...[
    'name',
    'namespace',
    'generateName',
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'deletionTimestamp',
  ].map((field): [string, string, (value: unknown) => boolean] => [field, 'a string', isText]),
  ['labels', 'a map of strings', isTextMap],
  ['annotations', 'a map of strings', isTextMap],
  ['finalizers', 'a list of strings', isTextList],
  ['ownerReferences', 'a list of objects', isObjectList],
  ['managedFields', 'a list of objects', isObjectList],
];

/** What is of the wrong type, as `metadata.labels must be a map of strings`; undefined if all can be relied upon. */
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
  if (definition.group === '' && definition.plural === 'namespaces') {
    if (label.test(name)) return [];
    return [
      bad(
        field,
        name,
        "a lowercase RFC 1123 label must consist of at most 63 lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      ),
    ];
  }
  if (name.length > 253) return [bad(field, name, 'must be no more than 253 characters')];
  if (subdomain.test(name)) return [];
  return [
    bad(
      field,
      name,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')",
    ),
  ];
}

function isQualified(key: string): boolean {
  const [first = '', second, ...more] = key.split('/');
  if (more.length > 0) return false;
  if (second === undefined) return qualifiedName.test(first);
  return first.length <= 253 && subdomain.test(first) && qualifiedName.test(second);
}

function mapCauses(
  field: string,
  entries: Record<string, string> | undefined,
  judgeValues: boolean,
): Cause[] {
  return Object.entries(entries ?? {}).flatMap(([key, value]) => {
    const causes: Cause[] = [];
    // Annotation keys are judged in lower case, as Kubernetes does.
    if (!isQualified(judgeValues ? key : key.toLowerCase())) {
      causes.push(
        bad(
          field,
          key,
          "name part must consist of at most 63 alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain prefix and '/'",
        ),
      );
    }
    if (judgeValues && !labelValue.test(value)) {
      causes.push(
        bad(
          field,
          value,
          "a valid label must be an empty string or consist of at most 63 alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
      );
    }
    return causes;
  });
}

function annotationSize(annotations: Record<string, string> | undefined): Cause[] {
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {}))
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (size <= annotationLimit) return [];
  const message = `Too long: may not be more than ${annotationLimit} bytes`;
  return [{ reason: 'FieldValueTooLong', message, field: 'metadata.annotations' }];
}

function finalizerCauses(name: string, index: number): Cause[] {
  const standard = name === 'orphan' || name === 'foregroundDeletion' || name === 'kubernetes';
  if (standard || (isQualified(name) && name.includes('/'))) return [];
  const text = 'name is neither a standard finalizer name nor is it fully qualified';
  return [bad(`metadata.finalizers[${index}]`, name, text)];
}

function ownerCauses(owner: object, index: number): Cause[] {
  const fields: Record<string, unknown> = { ...owner };
  return ['apiVersion', 'kind', 'name', 'uid'].flatMap((field) => {
    const value = fields[field];
    if (typeof value === 'string' && value !== '') return [];
    return [bad(`metadata.ownerReferences[${index}].${field}`, value ?? '', 'must not be empty')];
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

/** What an update may not touch. A field that the new object leaves out is taken from the old one before. */
export function immutableCauses(metadata: ObjectMeta, old: ObjectMeta): Cause[] {
  const causes = fixed
    .filter((field) => !isDeepStrictEqual(metadata[field], old[field]))
    .map((field) => bad(`metadata.${field}`, metadata[field] ?? null, 'field is immutable'));
  if (old.deletionTimestamp === undefined) return causes;
  const added = (metadata.finalizers ?? []).filter((name) => !old.finalizers?.includes(name));
  if (added.length === 0) return causes;
  const list = added.map((name) => JSON.stringify(name)).join(', ');
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [...causes, { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }];
}
