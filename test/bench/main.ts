/**
 * `npm run bench [order|orders|api|knative|transfer [case …]]`: figures as JSON lines on stdout, progress on stderr. Conditions: test/bench/README.md.
 */
import { benchApi } from './api.ts';
import { benchCost } from './cost/index.ts';
import { benchKnative } from './knative/index.ts';
import { benchOrders } from './orders.ts';
import { benchTransfer } from './transfer/index.ts';

const benches: Record<string, (cases: readonly string[]) => Promise<void>> = {
  order: benchOrders,
  orders: benchCost,
  api: benchApi,
  knative: benchKnative,
  transfer: benchTransfer,
};
const [asked, ...cases] = process.argv.slice(2);
if (asked !== undefined && !(asked in benches)) {
  console.error(`no bench ${asked}: there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(benches))
  if (asked === undefined || asked === name) await bench(cases);
process.exit(0);
