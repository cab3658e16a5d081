import { describe, expect, it } from 'vitest';
import type { KindDefinition, ObjectMeta } from '../kinds/definition.ts';
import { kinds } from '../testing/test-server.ts';
import { immutableCauses, metadataCauses, metadataTypeFault } from './metadata.ts';

function kind(plural: string): KindDefinition {
  const found = kinds.find((one) => one.plural === plural);
  if (!found) throw new Error(`no kind ${plural}`);
  return found;
}

const fields = (metadata: Partial<ObjectMeta>, plural = 'widgets') =>
  metadataCauses(kind(plural), { name: 'ok', ...metadata }).map((cause) => cause.field);

describe('metadataCauses', () => {
  it.each(['a', 'a-b', 'a.b', '0', 'x'.repeat(253), 'a.b-c.d'])('takes the name %s', (name) => {
    expect(fields({ name })).toEqual([]);
  });

  it.each(['', 'A', '-a', 'a-', 'a..b', 'a_b', 'a/b', 'ä', 'x'.repeat(254), '.', '..'])(
    'refuses the name %s',
    (name) => {
      expect(fields({ name })).toEqual(['metadata.name']);
    },
  );

  it('limits names of namespaces to labels of 63 characters', () => {
    expect(fields({ name: 'a.b' }, 'namespaces')).toEqual(['metadata.name']);
    expect(fields({ name: 'x'.repeat(64) }, 'namespaces')).toEqual(['metadata.name']);
    expect(fields({ name: 'x'.repeat(63) }, 'namespaces')).toEqual([]);
  });

  it('checks labels, annotations, finalizers and owners', () => {
    expect(fields({ labels: { 'example.com/a': 'B_1', app: '' } })).toEqual([]);
    expect(fields({ labels: { 'a/b/c': 'x' } })).toEqual(['metadata.labels']);
    expect(fields({ labels: { a: 'x'.repeat(64) } })).toEqual(['metadata.labels']);
    expect(fields({ annotations: { 'kubectl.kubernetes.io/X': 'any thing: {}' } })).toEqual([]);
    expect(fields({ annotations: { a: 'x'.repeat(256 * 1024) } })).toEqual(['metadata.annotations']);
    const smaller = { ...kind('widgets'), metadataLimit: 100 };
    const annotations = { a: 'x'.repeat(100) };
    expect(metadataCauses(smaller, { name: 'a', annotations })[0]?.message).toBe(
      'Too long: may not be more than 100 bytes',
    );
    expect(
      metadataCauses(smaller, { name: 'a', labels: { a: 'b' }, annotations }, { name: 'a', annotations }),
    ).toEqual([]);
    expect(fields({ finalizers: ['orphan', 'example.com/x'] })).toEqual([]);
    expect(fields({ finalizers: ['example.com/-'] })).toEqual(['metadata.finalizers']);
    expect(fields({ finalizers: ['mine'] })).toEqual([]);
    for (const generateName of ['Bad_', 'a.', '-', 'a_b-'])
      expect(fields({ generateName })).toEqual(['metadata.generateName']);
    expect(fields({ generateName: 'a-' })).toEqual([]);
    const event = { name: 'a.1', generateName: 'a.' };
    expect(metadataCauses({ ...kind('widgets'), group: '', plural: 'events' }, event)).toEqual([]);
    const first = { apiVersion: 'v1', kind: 'K', name: 'a', uid: 'u', controller: true };
    expect(fields({ ownerReferences: [first, first] })).toEqual(['metadata.ownerReferences']);
    const owner = { apiVersion: 'v1', kind: 'K', name: '', uid: 'u' };
    expect(fields({ ownerReferences: [owner] })).toEqual(['metadata.ownerReferences.name']);
  });
});

describe('fields that the server owns', () => {
  it.each([
    { generation: '1' },
    { generation: 1.5 },
    { deletionGracePeriodSeconds: true },
    { selfLink: 5 },
    { creationTimestamp: 'yesterday' },
    { creationTimestamp: '' },
    { creationTimestamp: '2026-01-01' },
    { deletionTimestamp: '2026-13-01T00:00:00Z' },
    { ownerReferences: [{ controller: 'true' }] },
    { ownerReferences: [{ name: 5 }] },
    { managedFields: [{ manager: 5 }] },
    { managedFields: [{ time: 'now' }] },
  ])('must have their types: %j', (metadata) => {
    expect(metadataTypeFault(metadata)).toContain(`metadata.${Object.keys(metadata)[0]} must be`);
  });

  it('accepts values written by the server', () => {
    expect(
      metadataTypeFault({
        generation: 1,
        deletionGracePeriodSeconds: 0,
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-01T00:00:00.5+01:00',
        ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'a', uid: 'u', controller: true }],
        managedFields: [{ manager: 'm', operation: 'Apply', time: '2026-01-01T00:00:00Z', fieldsV1: {} }],
      }),
    ).toBeUndefined();
  });
});

describe('limits', () => {
  const old = (metadata: Partial<ObjectMeta>, before: Partial<ObjectMeta>) =>
    metadataCauses(kind('widgets'), { name: 'ok', ...metadata }, { name: 'ok', ...before }).map(
      ({ reason, field }) => `${reason} ${field}`,
    );
  const many = (count: number) => Array.from({ length: count }, (_, at) => `example.com/f${at}`);
  const large = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`a${at}`, 'x'.repeat(50)]));

  it('are 100 finalizers and 256 KiB of labels', () => {
    expect(fields({ finalizers: many(100) })).toEqual([]);
    expect(old({ finalizers: many(101) }, {})).toEqual(['FieldValueTooMany metadata.finalizers']);
    expect(fields({ labels: { a: 'b' } })).toEqual([]);
    expect(old({ labels: large }, {})).toEqual(['FieldValueTooLong metadata.labels']);
  });

  it('do not apply to unchanged or removed fields of an update', () => {
    expect(old({ finalizers: many(150) }, { finalizers: many(150) })).toEqual([]);
    expect(old({ finalizers: many(149) }, { finalizers: many(150) })).toEqual([]);
    expect(old({ finalizers: [...many(149), 'example.com/x'] }, { finalizers: many(150) })).toHaveLength(1);
    const doubled = [...many(150), ...many(150)];
    expect(old({ finalizers: doubled }, { finalizers: many(150) })).toHaveLength(1);
    expect(old({ labels: large }, { labels: large })).toEqual([]);
  });
});

describe('metadataTypeFault', () => {
  it('names the first field of a wrong type', () => {
    expect(metadataTypeFault({ name: 'a', labels: { a: 'b' }, finalizers: null })).toBeUndefined();
    expect(metadataTypeFault({ labels: { a: 1 } })).toBe('metadata.labels must be a map of strings');
    expect(metadataTypeFault({ managedFields: [] })).toBeUndefined();
    expect(metadataTypeFault({ managedFields: [{}, { time: null }] })).toBeUndefined();
    expect(metadataTypeFault({ ownerReferences: [1] })).toBe(
      'metadata.ownerReferences must be a list of owner references',
    );
  });
});

describe('immutableCauses', () => {
  it('lets finalizers go but not come while an object is being deleted', () => {
    const old = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/a', 'x/b'] };
    expect(immutableCauses({ ...old, finalizers: ['x/b'] }, old)).toEqual([]);
    const [cause] = immutableCauses({ ...old, finalizers: ['x/a', 'x/c'] }, old);
    expect(cause?.message).toContain('found new finalizers []string{"x/c"}');
  });
});
