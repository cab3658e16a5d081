import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { SharedCapacity } from './shared-capacity.ts';

function fill(shared: SharedCapacity, namespace: string): (() => void)[] {
  const leaves: (() => void)[] = [];
  while (shared.hasRoom(namespace)) leaves.push(shared.enter(namespace));
  return leaves;
}

describe('SharedCapacity', () => {
  it('leaves room for others, however much one asks for', () => {
    const shared = new SharedCapacity(90);
    expect(fill(shared, 'a')).toHaveLength(45);
    expect(fill(shared, 'b').length).toBeGreaterThan(20);
    expect(shared.hasRoom('c')).toBe(true);
  });

  it('gives a namespace what others have left', () => {
    const shared = new SharedCapacity(90);
    for (const leave of fill(shared, 'a')) leave();
    expect(shared.used).toBe(0);
    expect(fill(shared, 'b')).toHaveLength(45);
  });

  it('has room for a namespace that uses nothing, whatever others have asked for', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 200 });
    fc.assert(
      fc.property(names, fc.integer({ min: 6, max: 40 }), (asking, capacity) => {
        const shared = new SharedCapacity(capacity, 2 * capacity);
        for (const name of asking) if (shared.hasRoom(name)) shared.enter(name);
        expect(shared.hasRoom('late')).toBe(true);
        expect(shared.used).toBeLessThanOrEqual(capacity + new Set(asking).size);
      }),
    );
  });

  it('is bounded, whatever number of namespaces ask', () => {
    const shared = new SharedCapacity(10, 20);
    for (let at = 0; at < 1_000; at += 1) fill(shared, `made-up-${at}`);
    expect(shared.used).toBe(20);
  });
});
