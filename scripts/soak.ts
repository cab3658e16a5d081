/**
 * `npm run soak`: the random tests with a fresh seed and many more runs, then ten minutes of client-go's informers.
 * usage: soak.ts [--seed <integer>] [--runs <factor>] [--seconds <of informers>] [filter ...]
 * `--runs 700 test/chaos/stories` plays 100,000 stories of the model, in an hour or so. `--seed` repeats a soak; filters choose test files and leave the informers out. The informers need KUBEBUILDER_ASSETS.
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
  },
});
const { seed, runs, seconds } = values;

function test(environment: Record<string, string>, ...parameters: string[]): boolean {
  const env = { ...process.env, ...environment };
  return (
    spawnSync(process.execPath, ['scripts/test.ts', ...parameters], { env, stdio: 'inherit' }).status === 0
  );
}

console.log(`soak: seed ${seed}, ${runs} times the runs of npm test`);
const kept = test({ ARC_SEED: seed, ARC_RUNS: runs }, '--related', 'shared/testing/index.ts', ...positionals);
if (!kept) {
  const again = ['npm run soak -- --seed', seed, '--runs', runs, '<test file>'].join(' ');
  console.error(
    `soak: seed ${seed} failed. Repeat: ${again}. Keep the counterexample as a case of its test.`,
  );
}
const followed =
  positionals.length > 0 ||
  test({ ARC_SOAK_SECONDS: seconds }, '--project', 'cluster', 'test/cluster/informers');
process.exit(kept && followed ? 0 : 1);
