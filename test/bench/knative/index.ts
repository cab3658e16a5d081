import { availableParallelism, loadavg } from 'node:os';
import { progress } from '../measure/report.ts';
import { whatIsMissing, withConduit } from './cluster.ts';
import { benchColdStart } from './cold-start.ts';
import { benchClusterOrders } from './orders.ts';
import { benchStartUp } from './start-up.ts';

/** Runs `start-up`, `cold` and `order`, or those of them that are named. It says which it leaves out because there is no cluster. */
export async function benchKnative(cases: readonly string[]): Promise<void> {
  const isAsked = (name: string) => cases.length === 0 || cases.includes(name);
  const load = loadavg()[0] ?? 0;
  progress(
    `Node ${process.versions.node}, ${availableParallelism()} processors, load average ${load.toFixed(1)}`,
  );
  if (isAsked('start-up')) await benchStartUp();
  if (!isAsked('cold') && !isAsked('order')) return;
  const missing = whatIsMissing(process.env);
  if (missing !== undefined) {
    progress(missing);
    return;
  }
  await withConduit(async (client) => {
    if (isAsked('cold')) await benchColdStart();
    if (isAsked('order')) await benchClusterOrders(client);
  });
}
