import { describe, expect, it } from 'vitest';
import { Batches } from './batches.ts';

/** Calls that end when they are told to. */
function heldCalls() {
  const calls: { items: readonly string[]; end: (answer: string) => void; fail: (error: Error) => void }[] =
    [];
  const call = (items: readonly string[]) =>
    new Promise<string>((end, fail) => calls.push({ items: [...items], end, fail }));
  return { calls, call };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('batches', () => {
  it('put what is asked for in one turn into one call, and what comes meanwhile into the next', async () => {
    const { calls, call } = heldCalls();
    const batches = new Batches(call, 10);
    const first = [batches.ask('a'), batches.ask('b')];
    await turn();
    const later = [batches.ask('c'), batches.ask('d')];
    await turn();
    expect(calls.map(({ items }) => items)).toEqual([['a', 'b']]);
    calls[0]?.end('one');
    expect(await Promise.all(first)).toEqual(['one', 'one']);
    await turn();
    calls[1]?.end('two');
    expect(await Promise.all(later)).toEqual(['two', 'two']);
    expect(calls[1]?.items).toEqual(['c', 'd']);
    expect(batches.idle).toBe(true);
  });

  it('take no more items into a call than they may', async () => {
    const { calls, call } = heldCalls();
    const batches = new Batches(call, 2);
    const asked = ['a', 'b', 'c'].map((item) => batches.ask(item));
    await turn();
    calls[0]?.end('one');
    await turn();
    calls[1]?.end('two');
    expect(await Promise.all(asked)).toEqual(['one', 'one', 'two']);
  });

  it('fail those whose call has failed, and go on with the others', async () => {
    const { calls, call } = heldCalls();
    const batches = new Batches(call, 1);
    const asked = [batches.ask('a'), batches.ask('b')];
    const ends = Promise.allSettled(asked);
    await turn();
    calls[0]?.fail(new Error('no'));
    await turn();
    calls[1]?.end('two');
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
