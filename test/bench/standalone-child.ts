/** `standalone-child <folder> [<settings as JSON>]`: a standalone that counts what goes to its store and over HTTP; tells it when asked over IPC. */
import { createLogger } from '#shared/telemetry';
import { startStandalone } from '../../scripts/standalone/standalone.ts';
import { countExchanges } from './cost/exchange-count.ts';
import { countWrites, type WriteCount } from './counted-store.ts';
import type { MeasuredSettings } from './standalone-process.ts';

let count: WriteCount = { writes: 0, bytes: 0 };
const exchanges = countExchanges();
const [folder = '', settings = '{}'] = process.argv.slice(2);
const standalone = await startStandalone({
  ...(JSON.parse(settings) as MeasuredSettings),
  folder,
  port: 0,
  programs: {},
  log: createLogger({ name: 'bench', level: 'error' }),
  wrapStore: (store) => {
    const counted = countWrites(store);
    count = counted.count;
    return counted.store;
  },
});
process.on('message', () => process.send?.({ ...count, ...exchanges }));
process.on('disconnect', () => void standalone.close().then(() => process.exit(0)));
process.send?.({ ready: standalone.kubeconfig });
