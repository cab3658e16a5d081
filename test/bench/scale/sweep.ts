import type { Clock } from '#shared/base/async';
import { Dispatcher } from '../../../functions/watch-bridge/duties/dispatcher.ts';
import { changeOf } from '../../../functions/watch-bridge/duties/neighbours.ts';
import { report } from '../measure/report.ts';
import { settledInputs, settledOrder, settledWorkflow } from './settled.ts';

/** A clock whose timers the bench does not wait for. */
const clock: Clock = { now: () => performance.now(), after: () => () => undefined };

/**
 * `bench scale sweep [100000]`: half of `objects` are Orders, half their ArtifactWorkflows, all settled, in the view of one bridge: what a start
 * and a sweep over them cost, what they send, and the heap that each takes.
 */
export async function benchSweep(objects: number): Promise<void> {
  const figure = { bench: 'scale sweep', n: objects, less: true } as const;
  const orders = objects / 2;
  let sent = 0;
  const outbox = {
    offer: () => {
      sent += 1;
    },
    forget: () => undefined,
  };
  const timeOfDay = { now: () => Date.now() };
  const dispatcher = new Dispatcher({ clock, timeOfDay, random: () => 0.5, outbox });
  const take = (object: ReturnType<typeof settledOrder>) => {
    const parsed = JSON.parse(JSON.stringify(object));
    const after = dispatcher.keep(parsed);
    const change = changeOf(undefined, after);
    if (change) dispatcher.change(change);
  };
  for (const object of settledInputs(orders)) take(object);
  const before = heap();
  for (let index = 0; index < orders; index += 1) {
    take(settledOrder(index));
    take(settledWorkflow(index));
  }
  report({ ...figure, case: 'heap for each object', ours: (heap() - before) / objects, unit: 'bytes' });
  for (const [name, work] of [
    ['start', () => dispatcher.synced()],
    ['sweep', () => dispatcher.sweep()],
    ['second sweep', () => dispatcher.sweep()],
  ] as const) {
    const used = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(used);
    report({ ...figure, case: name, ours: (user + system) / 1e6, unit: 's of CPU' });
  }
  report({ ...figure, case: 'events', ours: sent, unit: 'events' });
  dispatcher.close();
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
