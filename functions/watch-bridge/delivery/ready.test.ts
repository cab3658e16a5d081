import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { Ready } from './ready.ts';

const isUrgent = (one: string) => one.startsWith('f');

function filled(first: number, repetitions: number): Ready<string> {
  const ready = new Ready<string>(isUrgent);
  for (let at = 0; at < repetitions; at += 1) ready.set(`r${at}`, `r${at}`);
  for (let at = 0; at < first; at += 1) ready.set(`f${at}`, `f${at}`);
  return ready;
}

function takeAll(ready: Ready<string>): string[] {
  const taken: string[] = [];
  for (let next = ready.take(() => true); next !== undefined; next = ready.take(() => true))
    taken.push(next[1]);
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

  it('passes over a key that is not free, and keeps it', () => {
    const ready = filled(2, 1);
    const isFree = (key: string) => key !== 'f0';
    expect(ready.take(isFree)?.[1]).toBe('f1');
    expect(ready.take(isFree)?.[1]).toBe('r0');
    expect(ready.take(isFree)).toBeUndefined();
    expect(ready.get('f0')).toBe('f0');
    ready.delete('f0');
    expect(ready.size).toBe(0);
  });
});
