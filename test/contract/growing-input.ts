import * as z from 'zod';
import { isRecord } from '#shared/base/meta';
import { arcKinds } from '#shared/domain';

/** An input of which there is a smaller and a larger one: whatever the server does with it may take time in proportion to `size`. */
export interface Growing {
  name: string;
  request(size: number): GrowingRequest;
  /** The larger size; all are well below the limits of a body, or above them and refused. */
  size: number;
}

export interface GrowingRequest {
  method: string;
  path: string;
  body?: string;
  type?: string;
}

type Schema = Record<string, unknown>;

const root = '/apis/arc.opendefense.cloud/v1alpha1';
const ref = { name: 'a' };
const specs: Record<string, Record<string, unknown>> = {
  Order: { artifacts: [{ type: 'oci', srcRef: ref, dstRef: ref, spec: { image: 'a' } }] },
  ArtifactWorkflow: { workflowTemplateRef: ref },
  ArtifactType: { workflowTemplateRef: ref },
  ClusterArtifactType: { workflowTemplateRef: ref },
  Endpoint: { type: 'oci', remoteURL: 'a' },
};

/** Texts that backtracking, splitting or escaping may stumble over. */
const alphabets = ['1', 'a.', '-', '{{', '0,', '/', '\\', '"', '1h', '\u00e9', '\ud83d', ' a', '* '];

/** An object of each kind, by which the server is filled before. */
export function baseObjects(): { path: string; object: object }[] {
  return arcKinds.map(({ kind, plural, scope }) => ({
    path: `${scope === 'Namespaced' ? `${root}/namespaces/ns` : root}/${plural}`,
    object: objectOf(kind, specs[kind] ?? {}),
  }));
}

function objectOf(kind: string, spec: unknown, metadata: object = {}, status?: unknown): object {
  const own = { apiVersion: 'arc.opendefense.cloud/v1alpha1', kind, metadata: { name: 'base', ...metadata } };
  return { ...own, spec, ...(status !== undefined && { status }) };
}

/** Every field of every kind, of metadata and of a query, each patch type, and YAML. `all`: each with every alphabet and patch type. */
export function growingInputs(all: boolean): Growing[] {
  let turn = 0;
  const some = <T>(list: readonly T[]): readonly T[] =>
    all ? list : list.slice(turn++ % list.length || 0).slice(0, 1);
  const inputs: Growing[] = [];
  for (const [index, { kind, schema }] of arcKinds.entries()) {
    const path = baseObjects()[index]?.path ?? '';
    const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
      properties: Schema;
    };
    for (const part of ['spec', 'status']) {
      const base = part === 'spec' ? (specs[kind] ?? {}) : {};
      for (const field of growingFields(asSchema(properties[part]), [], some))
        for (const way of some(part === 'spec' ? writes : writes.slice(1)))
          inputs.push({
            name: `${way.name} of ${kind}.${part}.${field.name}`,
            size: field.size,
            request: (size) => way.request(path, kind, part, placed(base, field.path, field.value(size))),
          });
    }
  }
  return [...inputs, ...metadataInputs(some), ...queryInputs(some), ...patchInputs(), ...yamlInputs()];
}

const json = 'application/json';
const orders = `${root}/namespaces/ns/orders`;

const writes = [
  {
    name: 'POST',
    request: (path: string, kind: string, _part: string, spec: unknown) => ({
      method: 'POST',
      path: `${path}?dryRun=All`,
      type: json,
      body: JSON.stringify(objectOf(kind, spec, { name: 'new' })),
    }),
  },
  ...[
    ['merge patch', 'application/merge-patch+json', ''],
    ['apply', 'application/apply-patch+yaml', '&fieldManager=m&force=true'],
    ['JSON patch', 'application/json-patch+json', ''],
  ].map(([name = '', type = '', query = '']) => ({
    name,
    request(path: string, kind: string, part: string, value: unknown) {
      const whole = part === 'spec' ? objectOf(kind, value) : objectOf(kind, specs[kind] ?? {}, {}, value);
      const operations = [{ op: 'add', path: `/${part}`, value }];
      const target = part === 'status' ? '/base/status' : '/base';
      const body = JSON.stringify(name === 'JSON patch' ? operations : whole);
      return { method: 'PATCH', path: `${path}${target}?dryRun=All${query}`, type, body };
    },
  })),
];

interface GrowingField {
  name: string;
  path: readonly (string | number)[];
  size: number;
  value(size: number): unknown;
}

type Some = <T>(list: readonly T[]) => readonly T[];

function asSchema(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

/** The texts, lists and maps of a schema, at any depth. */
function growingFields(schema: Schema, path: readonly (string | number)[], some: Some): GrowingField[] {
  const name = path.join('.');
  switch (schema.type) {
    case 'string':
      return some(alphabets).map((alphabet) => ({
        name: `${name} of ${JSON.stringify(alphabet)}`,
        path,
        size: 64_000,
        value: (size) => alphabet.repeat(size / alphabet.length),
      }));
    case 'array': {
      const items = asSchema(schema.items);
      const value = (size: number) => Array.from({ length: size }, (_, at) => sample(items, at));
      return [
        { name: `${name} as list`, path, size: 4_000, value },
        ...growingFields(items, [...path, 0], some),
      ];
    }
    case 'object': {
      const fields = Object.entries(asSchema(schema.properties)).flatMap(([field, child]) =>
        growingFields(asSchema(child), [...path, field], some),
      );
      if (fields.length > 0) return fields;
      const values = asSchema(schema.additionalProperties);
      const value = (size: number) =>
        Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, sample(values, at)]));
      return [{ name: `${name} as map`, path, size: 4_000, value }];
    }
    default:
      return [];
  }
}

/** A small value that fits a schema; texts differ by `at`. */
function sample(schema: Schema, at: number): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'array':
      return [];
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'object': {
      const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
      const fields = asSchema(schema.properties);
      return Object.fromEntries(required.map((field) => [field, sample(asSchema(fields[field]), at)]));
    }
    default:
      return `v${at}`;
  }
}

/** A copy of `target` with `value` at a path. */
function placed(target: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') return [placed(Array.isArray(target) ? target[0] : undefined, rest, value)];
  const fields = isRecord(target) ? target : {};
  return { ...fields, [step]: placed(fields[step], rest, value) };
}

const listOf = <T>(size: number, item: (at: number) => T): T[] =>
  Array.from({ length: size }, (_, at) => item(at));
const mapOf = (size: number) => Object.fromEntries(listOf(size, (at) => [`k${at}`, 'v']));

function metadataInputs(some: Some): Growing[] {
  const owner = (at: number) => ({ apiVersion: 'v1', kind: 'K', name: `n${at}`, uid: `u${at}` });
  const manager = (at: number) => ({
    manager: `m${at}`,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:metadata': { 'f:labels': { [`f:l${at}`]: {} } } },
  });
  const texts = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];
  const values: [string, number, (size: number) => unknown][] = [
    ['labels', 4_000, mapOf],
    ['annotations', 4_000, mapOf],
    ['finalizers', 20_000, (size) => listOf(size, (at) => `example.com/f${at}`)],
    ['ownerReferences', 4_000, (size) => listOf(size, owner)],
    ['managedFields', 2_000, (size) => listOf(size, manager)],
    ...texts.flatMap((field) =>
      some(alphabets).map((one): [string, number, (size: number) => unknown] => [
        field,
        64_000,
        (size) => one.repeat(size),
      ]),
    ),
  ];
  return values.flatMap(([field, size, value]) =>
    writes.slice(0, 3).map((way) => ({
      name: `${way.name} of metadata.${field}`,
      size,
      request: (actual: number) =>
        withMetadata(way.request(orders, 'Order', 'spec', specs.Order), { [field]: value(actual) }),
    })),
  );
}

function withMetadata(request: GrowingRequest, fields: object): GrowingRequest {
  const object = JSON.parse(request.body ?? '{}') as { metadata: object };
  return { ...request, body: JSON.stringify({ ...object, metadata: { ...object.metadata, ...fields } }) };
}

const parameters = [
  ...['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'resourceVersionMatch', 'limit'],
  ...[
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'pretty',
    'timeout',
    'propagationPolicy',
    'gracePeriodSeconds',
  ],
];
/** Of what selectors are made; the least that fits a head of 16 KiB. */
const selectors = ['a=b,', 'a in (b),', '!a,', 'a\\,', 'metadata.name=a,', '(', ' '];

function queryInputs(some: Some): Growing[] {
  return parameters.flatMap((parameter) =>
    some([...alphabets, ...selectors]).map((text) => ({
      name: `query ${parameter} of ${JSON.stringify(text)}`,
      size: 12_000,
      request: (size) => ({
        ...(/Selector|^resource|^continue|^limit/.test(parameter)
          ? { method: 'GET' }
          : { method: 'POST', body: '{}', type: json }),
        path: `${orders}?${parameter}=${encodeURIComponent(text.toWellFormed().repeat(size / text.length))}`,
      }),
    })),
  );
}

function patchInputs(): Growing[] {
  const artifacts = '/spec/artifacts';
  const operations: [string, (at: number) => object][] = [
    ['add', () => ({ op: 'add', path: `${artifacts}/0`, value: {} })],
    ['move', () => ({ op: 'move', from: `${artifacts}/0`, path: `${artifacts}/-` })],
    ['copy', (at) => ({ op: 'copy', from: '/metadata', path: `/spec/c${at}` })],
    ['test', () => ({ op: 'test', path: '/spec', value: {} })],
    ['deep', () => ({ op: 'remove', path: '/a'.repeat(20) })],
  ];
  return operations.map(([name, operation]) => ({
    name: `JSON patch of ${name}`,
    size: 8_000,
    request: (size) => ({
      method: 'PATCH',
      path: `${orders}/base?dryRun=All`,
      type: 'application/json-patch+json',
      body: JSON.stringify(listOf(size, operation)),
    }),
  }));
}

function yamlInputs(): Growing[] {
  const texts: [string, (size: number) => string][] = [
    ['keys', (size) => listOf(size, (at) => `k${at}: v\n`).join('')],
    ['one key', (size) => 'k: v\n'.repeat(size)],
    ['lists', (size) => `a: [${'b,'.repeat(size)}]`],
    ['anchors', (size) => listOf(size / 4, (at) => `- &a${at} 1\n- *a${at}\n`).join('')],
    ['depth', (size) => '['.repeat(size)],
    ['comments', (size) => '# a\n'.repeat(size)],
    ['directives', (size) => '%a\n'.repeat(size / 4)],
    ['lines', (size) => `a: "${'x\n '.repeat(size)}"`],
    ['braces', (size) => '{"a":1,'.repeat(size)],
  ];
  return texts.map(([name, text]) => ({
    name: `YAML of ${name}`,
    size: 4_000,
    request: (size) => ({ method: 'POST', path: orders, type: 'application/yaml', body: text(size) }),
  }));
}
