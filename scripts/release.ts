/** `npm run release`: builds all files of a release from this checkout. See docs/operate/release.md. */
import { spawnSync } from 'node:child_process';
import { runProgram } from './image/run-program.ts';
import { parseReleaseArguments } from './release/arguments.ts';
import { makeRelease } from './release/make-release.ts';

const commitTime = () =>
  spawnSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).stdout?.trim() ?? '';

await runProgram({
  options: parseReleaseArguments(process.argv.slice(2)),
  epoch: process.env.SOURCE_DATE_EPOCH || commitTime(),
  failure: 'No release was made',
  run: makeRelease,
});
