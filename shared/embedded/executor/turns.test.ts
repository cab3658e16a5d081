import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { createTurns } from './turns.ts';

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

describe('createTurns', () => {
  it('serves namespaces by turns, each in its own order', () => {
    const turns = createTurns<string>();
    for (const id of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) turns.push(id.slice(0, 1), id, id);
    const served = Array.from({ length: 6 }, () => turns.shift());
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(turns.shift()).toBeUndefined();
  });

  it('keeps the position of a run that is pushed again, and forgets a run that is removed', () => {
    const turns = createTurns<number>();
    turns.push('a', 'x', 1);
    turns.push('a', 'y', 2);
    turns.push('a', 'x', 3);
    expect(turns.size).toBe(2);
    expect(turns.remove('a', 'y')).toBe(true);
    expect(turns.remove('a', 'y')).toBe(false);
    expect(turns.has('a', 'x')).toBe(true);
    expect(turns.shift()).toBe(3);
    expect(turns.size).toBe(0);
  });

  it('serves each run once, and no namespace more than one turn ahead of another that waits', () => {
    const entry = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20));
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ([ns, n]) => `${ns}${n}` }), (entries) => {
        const turns = createTurns<string>();
        for (const [namespace, n] of entries) turns.push(namespace, String(n), namespace);
        const left = counted(entries.map(([namespace]) => namespace));
        const served = new Map<string, number>();
        for (let next = turns.shift(); next !== undefined; next = turns.shift()) {
          left.set(next, (left.get(next) ?? 0) - 1);
          served.set(next, (served.get(next) ?? 0) + 1);
          const waiting = [...left]
            .filter(([, remaining]) => remaining > 0)
            .map(([namespace]) => served.get(namespace) ?? 0);
          expect((served.get(next) ?? 0) - Math.min(...waiting, served.get(next) ?? 0)).toBeLessThanOrEqual(
            1,
          );
        }
        expect([...left.values()].every((n) => n === 0)).toBe(true);
      }),
    );
  });
});
