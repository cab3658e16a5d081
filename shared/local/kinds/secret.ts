import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Cause } from '#shared/base/errors';
import type { KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';
import { count } from './core.ts';

const texts = z.record(z.string(), z.string());
const keyPattern = /^[-._a-zA-Z0-9]{1,253}$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const sizeLimit = 1024 * 1024;

/** core/v1 Secret: `stringData` is folded into `data` and not stored, `data` is checked to be base64, the type is fixed. */
export const secrets: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  scope: 'Namespaced',
  description: 'Secret holds secret data of a certain type, at most 1 MiB in all.',
  schema: z.object({
    type: z.string().default('Opaque').describe('Tells programs what to expect in data.'),
    data: texts.nullish().describe('The secret data: base64 by key.'),
    stringData: texts.nullish().describe('Write-only: text by key, folded into data, over which it wins.'),
    immutable: z.boolean().nullish().describe('True: data cannot be changed any more.'),
  }),
  status: false,
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'What is in it.',
      value: (object) => String(object.type ?? ''),
    },
    {
      name: 'Data',
      type: 'integer',
      description: 'The number of keys.',
      value: (object) => count(object.data),
    },
  ],
  selectableFields: { type: (object) => String(object.type ?? '') },
  hooks: {
    prepare(object) {
      const { stringData, ...rest } = object;
      if (stringData === undefined) return object;
      const folded = Object.entries(stringsOf(stringData)).map(([key, text]) => [
        key,
        Buffer.from(text, 'utf8').toString('base64'),
      ]);
      return { ...rest, data: { ...stringsOf(object.data), ...Object.fromEntries(folded) } };
    },
    validate: secretCauses,
  },
};

/** The faults of a Secret; values never appear in the messages. */
function secretCauses(object: KubeObject, old: KubeObject | undefined): Cause[] {
  const causes: Cause[] = [];
  if (old && object.type !== old.type) causes.push(fault('type', 'Invalid value: field is immutable'));
  const unchanged = old !== undefined && isDeepStrictEqual(object.data ?? {}, old.data ?? {});
  if (unchanged) return causes;
  if (old?.immutable === true)
    causes.push(forbidden('data', 'Forbidden: field is immutable when `immutable` is set'));
  const data = stringsOf(object.data);
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    size += Math.floor((value.length * 3) / 4);
    if (!keyPattern.test(key)) {
      causes.push(
        fault(`data[${key}]`, "Invalid value: a key consists of alphanumeric characters, '-', '_' or '.'"),
      );
    }
    if (!base64.test(value))
      causes.push(fault(`data[${key}]`, 'Invalid value: not base64 (use stringData for text)'));
  }
  if (size > sizeLimit) {
    const message = `Too long: may not be more than ${sizeLimit} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: 'data' });
  }
  return [...causes, ...requiredKeys(object, data)];
}

const keysOfType: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function requiredKeys(object: KubeObject, data: Record<string, string>): Cause[] {
  const wanted = keysOfType[String(object.type)] ?? [];
  return wanted
    .filter((key) => !Object.hasOwn(data, key))
    .map((key) => ({
      reason: 'FieldValueRequired',
      message: `Required value for type ${object.type}`,
      field: `data[${key}]`,
    }));
}

function stringsOf(value: unknown): Record<string, string> {
  return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
}

const fault = (field: string, message: string): Cause => ({ reason: 'FieldValueInvalid', message, field });
const forbidden = (field: string, message: string): Cause => ({
  reason: 'FieldValueForbidden',
  message,
  field,
});
