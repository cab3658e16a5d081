/** `npm run bench [order|api]`: figures as JSON lines on stdout, progress on stderr. Conditions: test/bench/README.md. */
import { benchApi } from './api.ts';
import { benchOrders } from './orders.ts';

const benches: Record<string, () => Promise<void>> = { order: benchOrders, api: benchApi };
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}: there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(benches))
  if (asked.length === 0 || asked.includes(name)) await bench();
process.exit(0);
