import { failureText } from '../standalone/failure-text.ts';
import { sourceDate } from './arguments.ts';

/** What a program is given: the time of all files in seconds, a sink for messages, and an abort signal. */
interface Context {
  time: number;
  note(text: string): void;
  signal: AbortSignal;
}

interface Program<Options> {
  options: Options | { usage: string } | { help: string };
  /** SOURCE_DATE_EPOCH, or a substitute for it. */
  epoch: string | undefined;
  /** Start of the message of a failure, such as `No image was made`. */
  failure: string;
  /** Resolves with the text for stdout. */
  run(options: Options, context: Context): Promise<string>;
}

/** Runs a program that makes reproducible files. Exits with 2 for an invalid command line; sets the exit code 1 after a failure. */
export async function runProgram<Options extends object>(program: Program<Options>): Promise<void> {
  const { options, failure, run } = program;
  if ('help' in options) {
    console.log(options.help);
    process.exit(0);
  }
  const time = sourceDate(program.epoch);
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
    console.log(await run(options, { time, note, signal: interrupt.signal }));
  } catch (caught) {
    console.error(`${failure}: ${failureText(caught)}`);
    process.exitCode = 1;
  }
}
