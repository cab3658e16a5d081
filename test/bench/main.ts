/**
 * `npm run bench [order|orders|demo|rest|api|knative|transfer|people|scale|stores|tenants [case …]]`: figures as JSON lines on stdout, progress on stderr. Conditions: test/bench/README.md.
 */
import { benchApi } from './api.ts';
import { benchCost } from './cost/index.ts';
import { benchRest } from './cost/rest.ts';
import { benchDemo } from './demo.ts';
import { benchKnative } from './knative/index.ts';
import { benchOrders } from './orders.ts';
import { benchPeople } from './people.ts';
import { benchScale } from './scale/index.ts';
import { benchStores } from './stores.ts';
import { benchTenants } from './tenants.ts';
import { benchTransfer } from './transfer/index.ts';

const benches: Record<string, (cases: readonly string[]) => Promise<void>> = {
  order: benchOrders,
  orders: benchCost,
  demo: benchDemo,
  rest: benchRest,
  api: benchApi,
  knative: benchKnative,
  transfer: benchTransfer,
  people: benchPeople,
  scale: benchScale,
  stores: benchStores,
  tenants: benchTenants,
};
const [asked, ...cases] = process.argv.slice(2);
if (asked !== undefined && !(asked in benches)) {
  console.error(`no bench ${asked}: there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(benches))
  if (asked === undefined || asked === name) await bench(cases);
process.exit(0);
