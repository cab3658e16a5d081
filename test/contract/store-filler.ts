import { openEmbeddedStore } from '#shared/kubernetes/storage';

/**
 * The process whose disk is full: run under a limit of file size, it writes until the store refuses, reads, tries
 * again, and says as one line of JSON what happened. Without a handler the signal of the limit would end it.
 */
process.on('SIGXFSZ', () => undefined);
const [folder = ''] = process.argv.slice(2);
const store = await openEmbeddedStore({ folder });
const acknowledged: string[] = [];
const refusals: unknown[] = [];
for (let round = 0; refusals.length < 30 && round < 200; round += 1) {
  const keys = Array.from({ length: 10 }, (_, at) => `/${round}/${at}`);
  const results = await Promise.allSettled(keys.map((key) => store.create(key, new Uint8Array(20_000))));
  for (const [at, result] of results.entries()) {
    if (result.status === 'rejected') refusals.push(result.reason);
    else acknowledged.push(keys[at] ?? '');
  }
}
const { items, revision } = await store.list('/');
const codes = [
  ...new Set(refusals.map((one) => (one instanceof Error && 'code' in one ? one.code : String(one)))),
];
const message = refusals[0] instanceof Error ? refusals[0].message : '';
await store.close();
console.log(JSON.stringify({ acknowledged, listed: items.length, revision, codes, message }));
