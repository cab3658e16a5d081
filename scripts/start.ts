/** `npm start`: the whole conduit in one process on loopback, until Ctrl-C. */
import { createLogger } from '#shared/telemetry';
import { parseStartArguments } from './standalone/arguments.ts';
import { failureText } from './standalone/failure-text.ts';
import { greeting } from './standalone/greeting.ts';
import { startStandalone } from './standalone/standalone.ts';

const options = parseStartArguments(process.argv.slice(2));
if ('help' in options) {
  console.log(options.help);
  process.exit(0);
}
if ('usage' in options) {
  console.error(options.usage);
  process.exit(2);
}
const log = createLogger({ name: 'standalone', level: options.logLevel });
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());

const standalone = await startStandalone({ ...options, log }).catch((caught: unknown) => {
  console.error(`The standalone cannot start: ${failureText(caught)}`);
  process.exit(1);
});
console.log(greeting({ ...standalone, folder: options.folder }, process.cwd()));

if (!interrupt.signal.aborted)
  await new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve, { once: true }));
await standalone.close();
process.exit(0);
