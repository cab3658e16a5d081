/** `npm run demo`: a complete run in a temporary folder. `--json`, `--keep`, `--source <ref>`: see the README. */

import { parseDemoArguments } from './demo/arguments.ts';
import { runDemo } from './demo/run.ts';
import { failureText } from './standalone/failure-text.ts';

const options = parseDemoArguments(process.argv.slice(2));
if ('help' in options) {
  console.log(options.help);
  process.exit(0);
}
if ('usage' in options) {
  console.error(options.usage);
  process.exit(2);
}
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
const report = await runDemo(options, interrupt.signal).catch((caught: unknown) => {
  if (interrupt.signal.aborted)
    console.error('Interrupted: all processes and files of the demo are removed.');
  else console.error(`The demo failed: ${failureText(caught)}`);
  process.exit(interrupt.signal.aborted ? 130 : 1);
});
if (options.json) console.log(JSON.stringify(report));
process.exit(report.ok ? 0 : 1);
