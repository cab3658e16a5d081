/** `npm run image`: one OCI image of all functions and programs, made without a container engine. See scripts/image/README.md. */
import { parseImageArguments, sourceDate } from './image/arguments.ts';
import { buildImage } from './image/build-image.ts';
import { failureText } from './standalone/failure-text.ts';

const options = parseImageArguments(process.argv.slice(2));
if ('help' in options) {
  console.log(options.help);
  process.exit(0);
}
const time = sourceDate(process.env.SOURCE_DATE_EPOCH);
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
  console.log(await buildImage(options, { env: process.env, time, note, signal: interrupt.signal }));
} catch (caught) {
  console.error(`No image was made: ${failureText(caught)}`);
  process.exitCode = 1;
}
