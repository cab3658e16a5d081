/** A standalone in a process of its own, whose store counts; tells the count when asked over IPC. */
import { createLogger } from '#shared/telemetry';
import { startStandalone } from '../../scripts/standalone/standalone.ts';
import { countWrites, type WriteCount } from './counted-store.ts';

let count: WriteCount = { writes: 0, bytes: 0 };
const standalone = await startStandalone({
  folder: process.argv[2] ?? '',
  port: 0,
  programs: {},
  log: createLogger({ name: 'bench', level: 'error' }),
  wrapStore: (store) => {
    const counted = countWrites(store);
    count = counted.count;
    return counted.store;
  },
});
process.on('message', () => process.send?.(count));
process.on('disconnect', () => void standalone.close().then(() => process.exit(0)));
process.send?.({ ready: standalone.kubeconfig });
