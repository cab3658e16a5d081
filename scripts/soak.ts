/**
 * `npm run soak`: the randomized tests with a fresh seed and many more runs, ten minutes of client-go's informers, the tests before a release (`npm run test:release`), a release built twice, then an hour of regular Orders beside hostile clients, and an hour beside greedy tenants.
 * usage: soak.ts [--seed <integer>] [--runs <factor>] [--seconds <of informers>] [--mixed-seconds <of each>] [filter ...]
 * `--runs 700 test/chaos/stories` runs 100,000 sequences of the model, in about an hour. `--seed` repeats a soak; filters select test files and skip the rest.
 * The informers need KUBEBUILDER_ASSETS. The hostile clients need the requirements of `npm run test:knative`, and are skipped without KUBECONFIG; to run only them:
 * `ARC_SOAK_SECONDS=3600 npm run test:knative -- mixed-load`, or `-- two-tenants`.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    runs: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '600' },
    'mixed-seconds': { type: 'string', default: '3600' },
  },
});
const { seed, runs, seconds } = values;

function test(environment: Record<string, string>, ...parameters: string[]): boolean {
  const env = { ...process.env, ...environment };
  return (
    spawnSync(process.execPath, ['scripts/test.ts', ...parameters], { env, stdio: 'inherit' }).status === 0
  );
}

/** Runs an installation on a cluster for an hour; prints one JSON object at the end. */
function besideHostileClients(): boolean {
  if (process.env.KUBECONFIG === undefined) {
    console.log('soak: no KUBECONFIG: skipping regular Orders beside hostile clients');
    return true;
  }
  const environment = { ARC_SOAK_SECONDS: values['mixed-seconds'] };
  return ['mixed-load', 'two-tenants']
    .map((name) => test(environment, '--project', 'knative', `test/cluster/knative/${name}`))
    .every(Boolean);
}

console.log(`soak: seed ${seed}, ${runs} times the runs of npm test`);
const kept = test(
  { ARC_SEED: seed, ARC_RUNS: runs },
  ...['--project', 'unit', '--project', 'e2e', '--related'],
  'shared/base/testing/index.ts',
  ...positionals,
);
if (!kept) {
  const again = ['npm run soak -- --seed', seed, '--runs', runs, '<test file>'].join(' ');
  console.error(`soak: seed ${seed} failed. Repeat: ${again}. Add the counterexample to its test.`);
}
if (positionals.length > 0) process.exit(kept ? 0 : 1);
const followed = test({ ARC_SOAK_SECONDS: seconds }, '--project', 'cluster', 'test/cluster/informers');
const released = test({ ARC_SOAK_SECONDS: seconds }, '--project', 'release');
const settled = besideHostileClients();
process.exit(kept && followed && released && settled ? 0 : 1);
