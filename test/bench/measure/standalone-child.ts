/** `standalone-child <folder> [<settings as JSON>]`: a standalone that counts what goes to its store and over HTTP; tells it when asked over IPC. */
import { createLogger } from '#shared/base/telemetry';
import { cacheStore, openEtcdStore } from '#shared/kubernetes/storage';
import { startStandalone } from '../../../scripts/standalone/standalone.ts';
import { countStore, type StoreCount } from '../../fixtures/counted-store.ts';
import { countExchanges, noteAnswers } from './exchange-count.ts';
import type { MeasuredSettings } from './standalone-process.ts';

let count: StoreCount = { writes: 0, bytes: 0, reads: 0, bytesRead: 0 };
const exchanges = countExchanges();
const answers = noteAnswers();
const [folder = '', settings = '{}'] = process.argv.slice(2);
const { etcd, ...options } = JSON.parse(settings) as MeasuredSettings;
const external =
  etcd === undefined
    ? undefined
    : cacheStore(await openEtcdStore({ endpoints: [etcd] }), { prefix: '/registry/' });
const standalone = await startStandalone({
  ...options,
  folder,
  port: 0,
  programs: {},
  log: createLogger({ name: 'bench', level: 'error' }),
  wrapStore: (store) => {
    const counted = countStore(external ?? store);
    count = counted.count;
    return counted.store;
  },
});
process.on('message', (what) =>
  process.send?.(what === 'answers' ? Object.fromEntries(answers) : { ...count, ...exchanges }),
);
process.on('disconnect', () => void standalone.close().then(() => process.exit(0)));
process.send?.({ ready: standalone.kubeconfig });
