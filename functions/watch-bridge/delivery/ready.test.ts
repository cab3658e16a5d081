import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { Ready } from './ready.ts';

const isUrgent = (one: string) => one.startsWith('f');

/** `f…` are urgent, `r…` are not; `f1@b` is of namespace b. */
const ownerOf = (one: string) => ({ namespace: one.split('@')[1] ?? 'a', order: 'x' });

function filled(first: number, repetitions: number): Ready<string> {
  const ready = new Ready<string>({ isUrgent, ownerOf });
  for (let at = 0; at < repetitions; at += 1) ready.set(`r${at}`, `r${at}`);
  for (let at = 0; at < first; at += 1) ready.set(`f${at}`, `f${at}`);
  return ready;
}

function takeAll(ready: Ready<string>): string[] {
  const taken: string[] = [];
  for (let next = ready.take(); next !== undefined; next = ready.take()) taken.push(next[1]);
  return taken;
}

describe('Ready', () => {
  it('lets a change overtake a bunch of looks', () => {
    expect(takeAll(filled(1, 500)).indexOf('f0')).toBeLessThanOrEqual(1);
  });

  it('gives looks an eighth while there is more than that', () => {
    const taken = takeAll(filled(100, 100)).slice(0, 80);
    expect(taken.filter((one) => !isUrgent(one))).toHaveLength(10);
  });

  it('takes each once, those of a class in order of arrival', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), (first, repetitions) => {
        const ready = filled(first, repetitions);
        expect(ready.size).toBe(first + repetitions);
        const taken = takeAll(ready);
        const numbers = (kind: string, count: number) =>
          Array.from({ length: count }, (_, at) => `${kind}${at}`);
        expect(taken.filter((one) => !isUrgent(one))).toEqual(numbers('r', repetitions));
        expect(taken.filter(isUrgent)).toEqual(numbers('f', first));
        expect(ready.size).toBe(0);
      }),
    );
  });

  it('lets namespaces take turns, among urgent events and among looks', () => {
    const ready = filled(300, 300);
    for (const one of ['f@b', 'r@b']) ready.set(one, one);
    const taken = takeAll(ready);
    expect(taken.indexOf('f@b')).toBe(1);
    // Looks get one in eight while urgent events wait: b's is the second of them.
    expect(taken.indexOf('r@b')).toBe(15);
  });

  it('moves an event that becomes urgent, and leaves others where they are', () => {
    const ready = new Ready<{ text: string }>({
      isUrgent: ({ text }) => isUrgent(text),
      ownerOf: () => ownerOf(''),
    });
    const events = ['f0', 'f1', 'r0', 'r1'].map((text) => ({ key: text, text }));
    for (const one of events) ready.set(one.key, one);
    for (const one of events) {
      if (one.key === 'r1') one.text = 'f2';
      ready.update(one.key);
    }
    const taken = [ready.take(), ready.take(), ready.take(), ready.take(), ready.take()];
    expect(taken.map((one) => one?.[1].text)).toEqual(['f0', 'f1', 'f2', 'r0', undefined]);
  });

  it('replaces and forgets an event by its key', () => {
    const ready = filled(2, 1);
    ready.set('f0', 'f0 changed');
    expect([ready.size, ready.get('f0')]).toEqual([3, 'f0 changed']);
    ready.delete('f0');
    ready.delete('r0');
    expect(takeAll(ready)).toEqual(['f1']);
  });
});
