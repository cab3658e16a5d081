import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { secrets } from './secret.ts';

const secret = (over: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns' },
  type: 'Opaque',
  ...over,
});
const validate = (object: KubeObject, old?: KubeObject) => secrets.hooks?.validate?.(object, old) ?? [];
const fields = (object: KubeObject, old?: KubeObject) => validate(object, old).map((cause) => cause.field);

describe('secrets', () => {
  it('fold stringData into data, over which it wins, and do not keep it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const given = secret({ data: { a: 'b2xk', b: 'b2xk' }, stringData: { a: text } });
        const made = secrets.hooks?.prepare?.(given, undefined);
        const data = made?.data as Record<string, string>;
        expect(Buffer.from(data.a ?? '', 'base64').toString()).toBe(Buffer.from(text).toString());
        expect(data.b).toBe('b2xk');
        expect(made).not.toHaveProperty('stringData');
        expect(validate(made ?? given)).toEqual([]);
      }),
    );
  });

  it.each([
    ['no base64', { data: { a: 'hunter2!' } }, ['data[a]']],
    ['base64 cut short', { data: { a: 'abc' } }, ['data[a]']],
    ['a bad key', { data: { 'a/b': '' } }, ['data[a/b]']],
    ['too much', { data: { a: 'A'.repeat(4 * 1024 * 1024) } }, ['data']],
    ['a missing key of its type', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, ['data[tls.key]']],
    ['nothing at all', {}, []],
  ])('name the field: %s', (_name, over, expected) => expect(fields(secret(over))).toEqual(expected));

  it('never show a value', () => {
    expect(JSON.stringify(validate(secret({ data: { a: 'hunter2!' } })))).not.toContain('hunter2');
  });

  it('keep their type, and their data when immutable', () => {
    const old = secret({ data: { a: '' }, immutable: true });
    expect(fields(secret({ type: 'x', data: { a: '' } }), old)).toEqual(['type']);
    expect(fields(secret({ data: { b: '' } }), old)).toEqual(['data']);
  });

  it('leave alone what an update does not touch', () => {
    const old = secret({ data: { a: 'not base64!' } });
    expect(fields(secret({ data: { a: 'not base64!' } }), old)).toEqual([]);
  });
});
