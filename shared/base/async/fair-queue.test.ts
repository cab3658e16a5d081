import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { FairQueue, type Owner } from './fair-queue.ts';

type Entry = Owner & { key: string };

function filled(names: readonly string[]): FairQueue<string, string> {
  const queue = new FairQueue<string, string>();
  // `a/x/1`: namespace, Order, number.
  for (const key of names) {
    const [namespace = '', order = ''] = key.split('/');
    queue.enqueue(key, { namespace, order }, key);
  }
  return queue;
}

function drained<T>(queue: FairQueue<string, T>): string[] {
  const keys: string[] = [];
  for (let next = queue.dequeue(); next !== undefined; next = queue.dequeue()) keys.push(next[0]);
  return keys;
}

const owner = fc.record({
  namespace: fc.constantFrom('a', 'b', 'c', 'd'),
  order: fc.constantFrom('x', 'y', 'z'),
});
const enqueue = fc.record({ kind: fc.constant('enqueue' as const), owner });
const other = fc.record({
  kind: fc.constantFrom('dequeue' as const, 'delete' as const),
  which: fc.nat(),
});
const commands = fc.array(fc.oneof({ weight: 3, arbitrary: enqueue }, other), { maxLength: 200 });

type Command = typeof commands extends fc.Arbitrary<(infer C)[]> ? C : never;

interface Step {
  /** What waited before it. */
  waiting: readonly Entry[];
  served: Entry | undefined;
}

/** Runs the commands beside a model that keeps everything in one list; returns what each dequeue saw. */
function play(given: readonly Command[]): Step[] {
  const queue = new FairQueue<string, Entry>();
  let waiting: Entry[] = [];
  const steps: Step[] = [];
  const leave = (key: string | undefined) => {
    waiting = waiting.filter((one) => one.key !== key);
  };
  given.forEach((command, at) => {
    if (command.kind === 'enqueue') {
      const entry = { ...command.owner, key: `k${at}` };
      queue.enqueue(entry.key, command.owner, entry);
      waiting.push(entry);
    } else if (command.kind === 'delete') {
      const key = waiting[command.which % Math.max(1, waiting.length)]?.key;
      expect(queue.delete(key ?? 'absent')).toBe(key !== undefined);
      leave(key);
    } else {
      const served = queue.dequeue()?.[1];
      steps.push({ waiting: [...waiting], served });
      leave(served?.key);
    }
    expect(queue.size).toBe(waiting.length);
    for (const entry of waiting) expect(queue.get(entry.key)).toBe(entry);
  });
  const rest = drained(queue);
  expect(rest.toSorted()).toEqual(waiting.map(({ key }) => key).toSorted());
  return steps;
}

/** A line that comes when k - 1 others wait sees at most k - 1 turns of others before its own; so it does after each turn. */
function expectTurns(steps: readonly Step[], lineOf: (entry: Entry) => string): void {
  /** By line: how many turns of others it has seen, and how many others waited when it began to wait. */
  const passed = new Map<string, { turns: number; others: number }>();
  for (const { waiting, served } of steps) {
    const lines = new Set(waiting.map(lineOf));
    for (const line of passed.keys()) if (!lines.has(line)) passed.delete(line);
    if (served === undefined) continue;
    for (const line of lines) {
      const { turns = 0, others = lines.size - 1 } = passed.get(line) ?? {};
      if (line === lineOf(served)) passed.delete(line);
      else {
        expect(turns).toBeLessThan(others);
        passed.set(line, { turns: turns + 1, others });
      }
    }
  }
}

describe('FairQueue', () => {
  it('lets namespaces take turns, then the Orders of each', () => {
    const names = ['a/x/1', 'a/x/2', 'a/x/3', 'a/y/1', 'b/x/1', 'b/x/2', 'c/x/1'];
    expect(drained(filled(names))).toEqual(['a/x/1', 'b/x/1', 'c/x/1', 'a/y/1', 'b/x/2', 'a/x/2', 'a/x/3']);
  });

  it('serves the single entry of a namespace next but one, behind any number of another', () => {
    const queue = filled(Array.from({ length: 20_000 }, (_, at) => `a/x/${at}`));
    queue.enqueue('b', { namespace: 'b', order: 'x' }, 'b');
    expect([queue.dequeue()?.[0], queue.dequeue()?.[0]]).toEqual(['a/x/0', 'b']);
  });

  it('gives a namespace no further turn for having left and come back', () => {
    const queue = filled(['a/x/1', 'b/x/1', 'b/x/2']);
    queue.dequeue();
    queue.enqueue('a/x/2', { namespace: 'a', order: 'x' }, '');
    expect(drained(queue)).toEqual(['b/x/1', 'a/x/2', 'b/x/2']);
  });

  it('keeps owner and place of a key that is enqueued again, with the new value', () => {
    const queue = filled(['a/x/1', 'a/x/2']);
    queue.enqueue('a/x/1', { namespace: 'b', order: 'y' }, 'changed');
    expect(queue.size).toBe(2);
    expect(queue.dequeue()).toEqual(['a/x/1', 'changed']);
    expect(drained(queue)).toEqual(['a/x/2']);
  });

  it('forgets what is deleted or cleared', () => {
    const queue = filled(['a/x/1', 'a/y/1', 'b/x/1']);
    expect(queue.delete('a/x/1')).toBe(true);
    expect(queue.delete('a/x/1')).toBe(false);
    expect(queue.dequeue()?.[0]).toBe('a/y/1');
    queue.clear();
    expect([queue.size, queue.get('b/x/1'), queue.dequeue()]).toEqual([0, undefined, undefined]);
  });

  it('loses nothing and serves each entry once, whatever is enqueued, taken out and deleted', () => {
    fc.assert(fc.property(commands, (given) => void play(given)));
  });

  it('keeps the order of the entries of one owner', () => {
    const lineOf = ({ namespace, order }: Entry) => `${namespace}/${order}`;
    fc.assert(
      fc.property(commands, (given) => {
        for (const { waiting, served } of play(given)) {
          const first = waiting.find((one) => served !== undefined && lineOf(one) === lineOf(served));
          expect(served).toEqual(first);
        }
      }),
    );
  });

  it('serves each of k namespaces that wait within k turns, whoever comes meanwhile', () => {
    fc.assert(
      fc.property(commands, (given) =>
        expectTurns(play(withoutDeletes(given)), ({ namespace }) => namespace),
      ),
    );
  });

  it('serves each of k Orders of a namespace within k turns of that namespace', () => {
    fc.assert(
      fc.property(commands, (given) => {
        const steps = play(withoutDeletes(given).map(inOneNamespace));
        expectTurns(steps, ({ order }) => order);
      }),
    );
  });

  it('drains many entries of few owners, where a Map as a queue would take minutes', () => {
    const queue = filled(Array.from({ length: 300_000 }, (_, at) => `${at % 3}/${at % 7}/${at}`));
    expect(drained(queue)).toHaveLength(300_000);
  });
});

function inOneNamespace(command: Command): Command {
  return command.kind === 'enqueue' ? { ...command, owner: { ...command.owner, namespace: 'a' } } : command;
}

/** A line that is emptied and filled again between two turns has begun to wait anew, which steps do not show. */
function withoutDeletes(given: readonly Command[]): Command[] {
  return given.filter(({ kind }) => kind !== 'delete');
}
