import { describe, expect, it } from 'vitest';
import { artifact, attacked, group, many, order, orders, refused } from './attacked.ts';

const server = attacked();

describe('objects of wrong types', () => {
  const wrong = [5, 'text', true, [5], [null]];
  it('are refused with the field named, at every level', async () => {
    for (const value of wrong) {
      const cases: [unknown, RegExp][] = [
        [order(value), / spec: /],
        [{ ...order({}), metadata: value }, /metadata must be an object/],
        [order({ artifacts: [value] }), /spec\.artifacts\[0\]/],
        [order({ artifacts: [{ ...artifact, srcRef: value }] }), /spec\.artifacts\[0\]\.srcRef/],
        [order({ artifacts: [{ ...artifact, spec: value }] }), /spec\.artifacts\[0\]\.spec/],
        [order({ artifacts: [{ ...artifact, cron: value }] }), /spec\.artifacts\[0\]\.cron/],
        [order({}, { labels: value }), /metadata\.labels/],
        [order({}, { annotations: value }), /metadata\.annotations/],
        [order({}, { ownerReferences: value }), /metadata\.ownerReferences/],
        [order({}, { finalizers: [{ value }] }), /metadata\.finalizers/],
        [order({}, { name: [value] }), /metadata\.name/],
        [order({}, { generateName: { value } }), /metadata\.generateName/],
        [{ ...order({}), kind: [value] }, /Kind/],
        [{ ...order({}), apiVersion: { value } }, /API version/],
      ];
      for (const [body, words] of cases) {
        const answer = await server.post(body);
        expect([400, 422]).toContain(answer.code);
        expect(refused(answer, answer.code).message).toMatch(words);
      }
    }
  });

  it('do not reach the prototype of anything', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = JSON.stringify({
        ...order(
          { artifacts: [{ ...artifact, spec: { KEY: { polluted: 1 } } }] },
          { generateName: 'p-', name: '' },
        ),
        KEY: { polluted: 1 },
      }).replaceAll('"KEY"', `"${key}"`);
      const isStored = key !== '__proto__';
      const made = await server.post(body);
      if (isStored) expect(made.code).toBe(201);
      else expect(refused(made, 400).message).toContain('__proto__');
      const merge = { body: `{"spec":{"${key}":{"polluted":1}}}`, type: 'application/merge-patch+json' };
      expect((await server.send('PATCH', `${orders}/target`, merge)).code).toBe(isStored ? 200 : 400);
      refused(await server.send('GET', `${orders}/${key}`), 404);
      expect((await server.send('GET', `${group}/namespaces/default/${key}`)).code).toBe(404);
      refused(await server.send('GET', `${orders}?fieldSelector=${key}%3Dx`), 400);
    }
    expect('polluted' in {}).toBe(false);
  });

  const long = 'x'.repeat(1_000_000);
  it.each<[string, unknown, string]>([
    ['label', order({}, { labels: { a: long } }), 'metadata.labels'],
    ["label's name", order({}, { labels: { [long]: 'a' } }), 'metadata.labels'],
    ['annotation', order({}, { annotations: { a: long } }), 'metadata.annotations'],
    ['name', order({}, { name: long }), 'metadata.name'],
    [
      'set of labels',
      order({}, { labels: Object.fromEntries(many(10_000, (at) => [`-${at}`, '-'])) }),
      'metadata.labels',
    ],
    [
      'list',
      order({ artifacts: many(9_000, () => ({ type: 5, spec: { image: 'x'.repeat(90) } })) }),
      'spec.artifacts[0].type',
    ],
    ['finalizer', order({}, { finalizers: [long] }), 'metadata.finalizers'],
  ])('of a megabyte in one %s are answered shortly', async (_what, body, field) => {
    expect(refused(await server.post(body), 422).fields[0]).toContain(field);
  });

  it('of more than 10,000 items in one list are refused', async () => {
    const { message } = refused(await server.post(order({ artifacts: many(10_001, () => ({})) })), 413);
    expect(message).toContain('more than 10000');
  });

  it('of 9,000 fields that nobody knows are answered shortly, of 50,000 refused', async () => {
    const unknown = Object.fromEntries(many(9_000, (at) => [`k${at}`, 1]));
    const strict = await server.send('POST', `${orders}?fieldValidation=Strict`, {
      body: JSON.stringify(order(unknown)),
    });
    expect(refused(strict, 400).message).toContain('unknown field "spec.k0"');
    const warned = await server.post(order(unknown, { name: 'warned' }));
    expect(warned.code).toBe(201);
    expect(String(warned.headers.warning).length).toBeLessThan(8_000);
    const larger = Object.fromEntries(many(50_000, (at) => [`k${at}`, 1]));
    expect(refused(await server.post(order(larger)), 413).message).toContain('more than 10000 fields');
  });

  it('that name a key twice are warned of, or refused where the client is strict', async () => {
    const body = JSON.stringify(order({ artifacts: [] }, { name: 'twice' })).replace('{', '{"kind":"Order",');
    expect(
      refused(await server.send('POST', `${orders}?fieldValidation=Strict`, { body }), 400).message,
    ).toContain('duplicate field "kind"');
    expect((await server.post(body)).headers.warning).toContain('duplicate field');
  });
});
