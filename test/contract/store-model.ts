import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import type { Store, StoreEvent, WriteResult } from '#shared/kubernetes/storage';
import { bytes, eventsAfter, line, type OpenStore, text, withStore } from './store-support.ts';

/** A write to one of a few keys; `fresh` expects the revision that is there, otherwise one that is not. */
interface Step {
  type: 'create' | 'update' | 'delete';
  key: string;
  value: string;
  fresh: boolean;
}

type State = Map<string, { value: string; revision: number }>;

const keys = ['/a', '/a/', '/a/x', '/a/y', '/ab', '/b/x', '/b/\u{1f600}', '/b/～'];
const prefixes = ['/', '/a', '/a/', '/b/', '/c/'];

/** Long on purpose: by default fast-check makes lists so short that hardly a write in them takes place. */
const stepsAmong = (allowed: readonly string[]): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record<Step>({
      type: fc.constantFrom('create', 'update', 'delete'),
      key: fc.constantFrom(...allowed),
      value: fc.string({ maxLength: 5 }),
      fresh: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
    { minLength: 20, maxLength: 60, size: 'max' },
  );

/** Random writes against a plain Map; then every revision's list, its pages and every watch must agree with it. */
export function describeModel(open: OpenStore, taken: 'any' | 'ascii'): void {
  const allowed = keys.filter((key) => taken === 'any' || /^[ -~]+$/.test(key));
  describe('against a model', () => {
    it('lists, pages and watches as a plain Map does at every revision', () =>
      fc.assert(
        fc.asyncProperty(stepsAmong(allowed), fc.integer({ min: 1, max: 4 }), (taken, limit) =>
          withStore(open, async ({ store }) => {
            const { states, events } = await run(store, taken);
            for (const [revision, state] of states) await compareLists(store, revision, state, limit);
            // At once: etcd looks only every 100 ms for watches that have the past to catch up with.
            await Promise.all([...states.keys()].map((after) => compareWatches(store, after, events)));
          }),
        ),
        { numRuns: runs(25) },
      ));
  });
}

async function run(store: Store, taken: Step[]) {
  let state: State = new Map();
  const states = new Map<number, State>([[await store.revision(), state]]);
  const events: { key: string; revision: number; line: string }[] = [];
  for (const { type, key, value, fresh } of taken) {
    const current = state.get(key);
    const expected = (current?.revision ?? 1) + (fresh ? 0 : 1);
    const result = await write(store, { type, key, value, fresh }, expected);
    expect(result.ok).toBe(type === 'create' ? !current : current !== undefined && fresh);
    if (!result.ok) {
      expect(result.current?.revision).toBe(current?.revision);
      continue;
    }
    const { revision } = result;
    state = new Map(state);
    if (type === 'delete') state.delete(key);
    else state.set(key, { value, revision });
    states.set(revision, state);
    events.push({ key, revision, line: line(modelEvent(key, revision, state, current)) });
  }
  return { states, events };
}

function modelEvent(
  key: string,
  revision: number,
  state: State,
  before: { value: string; revision: number } | undefined,
): StoreEvent {
  const previous = before && { key, value: bytes(before.value), revision: before.revision };
  const now = state.get(key);
  if (now) return { type: 'put', key, value: bytes(now.value), revision, previous };
  return { type: 'delete', key, revision, previous: previous ?? expect.fail('deleted what was not there') };
}

function write(store: Store, { type, key, value }: Step, expected: number): Promise<WriteResult> {
  if (type === 'create') return store.create(key, bytes(value));
  return type === 'update' ? store.update(key, bytes(value), expected) : store.delete(key, expected);
}

async function compareLists(store: Store, revision: number, state: State, limit: number): Promise<void> {
  for (const prefix of prefixes) {
    const expected = [...state]
      .filter(([key]) => key.startsWith(prefix))
      .sort(([a], [b]) => Buffer.compare(bytes(a), bytes(b)))
      .map(([key, item]) => ({ key, ...item }));
    const whole = await store.list(prefix, { revision });
    expect(plain(whole.items)).toEqual(expected);
    expect(whole).toMatchObject({ revision, remaining: 0 });
    expect(await pages(store, prefix, revision, limit, expected.length)).toEqual(expected);
  }
}

async function pages(store: Store, prefix: string, revision: number, limit: number, total: number) {
  const items: ReturnType<typeof plain> = [];
  for (let start: string | undefined; ; ) {
    const page = await store.list(prefix, { revision, limit, ...(start === undefined ? {} : { start }) });
    items.push(...plain(page.items));
    expect(page.remaining).toBe(total - items.length);
    if (page.remaining === 0) return items;
    start = `${items.at(-1)?.key}\0`;
  }
}

function plain(items: { key: string; value: Uint8Array; revision: number }[]) {
  return items.map(({ key, value, revision }) => ({ key, value: text(value), revision }));
}

async function compareWatches(
  store: Store,
  after: number,
  events: { key: string; revision: number; line: string }[],
): Promise<void> {
  for (const prefix of prefixes) {
    const expected = events.filter((event) => event.revision > after && event.key.startsWith(prefix));
    if (expected.length === 0) continue;
    const seen = await eventsAfter(store, prefix, after, expected.length);
    expect(seen.map(line)).toEqual(expected.map((event) => event.line));
  }
}
