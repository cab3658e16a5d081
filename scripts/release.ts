/** `npm run release`: every file of a release, made of this checkout. See docs/operate/release.md. */
import { spawnSync } from 'node:child_process';
import { sourceDate } from './image/arguments.ts';
import { parseReleaseArguments } from './release/arguments.ts';
import { makeRelease } from './release/make-release.ts';
import { failureText } from './standalone/failure-text.ts';

const options = parseReleaseArguments(process.argv.slice(2));
if ('help' in options) {
  console.log(options.help);
  process.exit(0);
}
const commitTime = () =>
  spawnSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const time = sourceDate(process.env.SOURCE_DATE_EPOCH || commitTime());
if ('usage' in options || time === undefined) {
  console.error(
    'usage' in options ? options.usage : 'SOURCE_DATE_EPOCH is not a number of seconds since 1970',
  );
  process.exit(2);
}
const interrupt = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => interrupt.abort());
const note = (text: string): void => console.error(text);
try {
  console.log(await makeRelease(options, { time, note, signal: interrupt.signal }));
} catch (caught) {
  console.error(`No release was made: ${failureText(caught)}`);
  process.exitCode = 1;
}
