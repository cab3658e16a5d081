/** `npm run image`: builds one OCI image of all functions and programs, without a container engine. See scripts/image/README.md. */
import { parseImageArguments } from './image/arguments.ts';
import { buildImage } from './image/build-image.ts';
import { runProgram } from './image/run-program.ts';

await runProgram({
  options: parseImageArguments(process.argv.slice(2)),
  epoch: process.env.SOURCE_DATE_EPOCH,
  failure: 'No image was made',
  run: (options, context) => buildImage(options, { env: process.env, ...context }),
});
