import { describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#shared/meta';
import { fc } from '#shared/testing';
import { Codec } from './codec.ts';
import { ObjectTable } from './object-table.ts';

const names = ['a', 'b', 'c', 'd', 'e'];
const orders = { kind: 'Order', namespaced: true };

function object(name: string, uid: string, phase = 'Running'): KubeObject {
  const metadata = { name, namespace: 'team', uid, resourceVersion: '7' };
  return { apiVersion: 'v1', kind: 'Order', metadata, status: { phase } };
}

function expectAll(table: ObjectTable, model: ReadonlyMap<string, KubeObject>): void {
  expect([...table.ids()].length).toBe(model.size);
  for (const name of names) {
    const known = model.get(name);
    const id = table.named('Order', 'team', name);
    expect(id === undefined ? undefined : table.get(id)).toEqual(known);
    if (known !== undefined) expect(table.withUid(known.metadata.uid ?? '')).toBe(id);
  }
}

describe('ObjectTable', () => {
  const step = fc.record({
    name: fc.constantFrom(...names),
    uid: fc.constantFrom('1', '2'),
    phase: fc.constantFrom('Running', 'Succeeded', 'x'.repeat(300)),
    gone: fc.boolean(),
  });

  it('has the newest state of each object by name and uid, warm or not', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(1, 2, 100), (steps, warm) => {
        const table = new ObjectTable(warm);
        const model = new Map<string, KubeObject>();
        for (const { name, uid, phase, gone } of steps) {
          const next = object(name, `${name}${uid}`, phase);
          const id = gone ? table.named('Order', 'team', name) : table.put(next);
          if (!gone) model.set(name, next);
          else if (model.delete(name)) table.remove(id ?? -1);
          expectAll(table, model);
        }
      }),
    );
  });

  it('hides what is deleted from a list, and keeps its id until it is removed', () => {
    const table = new ObjectTable(1);
    const states = table.ofKind(orders);
    const first = object('a', '1');
    states.set('team/a', { uid: '1', resourceVersion: '7', value: first });
    const id = table.withUid('1');
    states.delete('team/a');
    expect(states.get('team/a')).toBeUndefined();
    expect([...states.entries()]).toEqual([]);
    expect(table.withUid('1')).toBe(id);
    table.remove(id ?? -1);
    expect(table.withUid('1')).toBeUndefined();
  });

  it('shows again what comes back before it was removed', () => {
    const table = new ObjectTable(1);
    const states = table.ofKind(orders);
    table.put(object('a', '1'));
    states.delete('team/a');
    table.put(object('a', '2'));
    expect(states.get('team/a')?.uid).toBe('2');
    expect(table.withUid('1')).toBeUndefined();
  });

  it('tells kinds and namespaces apart', () => {
    const table = new ObjectTable();
    table.put(object('a', '1'));
    table.put({ apiVersion: 'v1', kind: 'ClusterArtifactType', metadata: { name: 'a', uid: '2' } });
    const types = table.ofKind({ kind: 'ClusterArtifactType', namespaced: false });
    expect(types.get('a')?.uid).toBe('2');
    expect([...types.entries()].map(([key]) => key)).toEqual(['a']);
    expect([...table.ofKind(orders).entries()].map(([key]) => key)).toEqual(['team/a']);
    expect(table.named('Order', 'other', 'a')).toBeUndefined();
  });

  it('reads of very many objects only those of the kind that is walked through', () => {
    const table = new ObjectTable(1);
    const type = { apiVersion: 'v1', kind: 'ClusterArtifactType' };
    for (let at = 0; at < 3_000; at += 1) {
      table.put(object(`o${at}`, `uid-${at}`));
      if (at % 1_000 === 0) table.put({ ...type, metadata: { name: `t${at}`, uid: `type-${at}` } });
    }
    const decode = vi.spyOn(Codec.prototype, 'decode');
    try {
      const types = table.ofKind({ kind: 'ClusterArtifactType', namespaced: false });
      expect([...types.entries()].map(([key]) => key)).toEqual(['t0', 't1000', 't2000']);
      expect(decode).toHaveBeenCalledTimes(3);
      expect([...table.ofKind(orders).entries()]).toHaveLength(3_000);
    } finally {
      decode.mockRestore();
    }
  });
});
