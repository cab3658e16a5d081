/**
 * `npm run soak`: the random tests with a fresh seed and many more runs, ten minutes of client-go's informers, the tests before a release (`npm run test:release`), a release made twice, then an hour of honest Orders beside hostile clients, and an hour beside greedy tenants.
 * usage: soak.ts [--seed <integer>] [--runs <factor>] [--seconds <of informers>] [--mixed-seconds <of each>] [filter ...]
 * `--runs 700 test/chaos/stories` plays 100,000 stories of the model, in an hour or so. `--seed` repeats a soak; filters choose test files and leave the rest out.
 * The informers need KUBEBUILDER_ASSETS. The hostile clients need what `npm run test:knative` does, and are left out where KUBECONFIG is not set; they alone:
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

/** A cluster with one installation, for an hour; prints one JSON object at the end. */
function besideHostileClients(): boolean {
  if (process.env.KUBECONFIG === undefined) {
    console.log('soak: without KUBECONFIG, honest Orders beside hostile clients are left out');
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
  console.error(
    `soak: seed ${seed} failed. Repeat: ${again}. Keep the counterexample as a case of its test.`,
  );
}
if (positionals.length > 0) process.exit(kept ? 0 : 1);
const followed = test({ ARC_SOAK_SECONDS: seconds }, '--project', 'cluster', 'test/cluster/informers');
const released = test({ ARC_SOAK_SECONDS: seconds }, '--project', 'release');
const settled = besideHostileClients();
process.exit(kept && followed && released && settled ? 0 : 1);
