import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { LinkedMap } from './linked-map.ts';

const key = fc.nat(6);
const command = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'moveToEnd' as const), key }),
);

function entries(map: LinkedMap<number, number>): [number, number][] {
  const found: [number, number][] = [];
  for (let first = map.first; first !== undefined; first = map.first) {
    found.push([...first]);
    map.delete(first[0]);
  }
  return found;
}

describe('LinkedMap', () => {
  it('has the entries of a Map, in the order of a Map', () => {
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        const map = new LinkedMap<number, number>();
        const model = new Map<number, number>();
        commands.forEach(({ kind, key }, at) => {
          const value = model.get(key);
          if (kind === 'set') {
            map.set(key, at);
            model.set(key, at);
          } else if (kind === 'delete') {
            expect(map.delete(key)).toBe(model.delete(key));
          } else {
            map.moveToEnd(key);
            if (model.delete(key) && value !== undefined) model.set(key, value);
          }
          expect([map.size, map.get(key)]).toEqual([model.size, model.get(key)]);
          expect(map.first).toEqual([...model][0]);
        });
        expect(entries(map)).toEqual([...model]);
      }),
    );
  });

  it('is empty when it is cleared', () => {
    const map = new LinkedMap<string, number>();
    map.set('a', 1);
    map.clear();
    expect([map.size, map.first, map.get('a')]).toEqual([0, undefined, undefined]);
    map.set('b', 2);
    expect(map.first).toEqual(['b', 2]);
  });
});
