import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** What ran between two moments, of our own code. */
export interface Touched {
  /** Source files, by their paths in the repository. */
  files: string[];
  functions: number;
  calls: number;
  /** Bytes and UTF-16 units that our code had copied, parsed, printed, encoded or decoded. */
  bytes: number;
}

const root = `${pathToFileURL(path.resolve(import.meta.dirname, '../../..')).href}/`;
const isOurs = (url: string) =>
  url.startsWith(root) && !url.includes('/node_modules/') && !url.includes('/test/');

/** Measures by V8's precise coverage, which makes this process slow: for counts, not for times. */
export async function measureTouched(): Promise<(run: () => Promise<unknown>) => Promise<Touched>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const copies = countCopies();
  return async (run) => {
    await session.post('Profiler.takePreciseCoverage');
    const before = copies();
    await run();
    const bytes = copies() - before;
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const scripts = result
      .filter(({ url }) => isOurs(url))
      .map(({ url, functions }) => ({
        file: url.slice(root.length),
        counts: functions.flatMap(({ ranges }) => (ranges[0]?.count ? [ranges[0].count] : [])),
      }))
      .filter(({ counts }) => counts.length > 0);
    const counts = scripts.flatMap((script) => script.counts);
    return {
      files: scripts.map(({ file }) => file).sort(),
      functions: counts.length,
      calls: counts.reduce((sum, count) => sum + count, 0),
      bytes,
    };
  };
}

type Method = (this: unknown, ...args: never[]) => unknown;

/** Wraps what copies bytes or texts, as our code calls it; what Node does inside is not seen. */
function countCopies(): () => number {
  let bytes = 0;
  const wrap = (
    owner: object,
    name: string,
    sizeOf: (result: unknown, args: readonly unknown[]) => number,
  ) => {
    const original = Reflect.get(owner, name) as Method;
    Object.defineProperty(owner, name, {
      configurable: true,
      writable: true,
      value(this: unknown, ...args: never[]) {
        const result = original.apply(this, args);
        bytes += sizeOf(result, args);
        return result;
      },
    });
  };
  const lengthOf = (value: unknown) =>
    typeof value === 'string' ? value.length : ArrayBuffer.isView(value) ? value.byteLength : 0;
  const ofResult = (result: unknown) => (typeof result === 'number' ? result : lengthOf(result));
  const ofArgument = (_result: unknown, [first]: readonly unknown[]) => lengthOf(first);
  wrap(JSON, 'parse', ofArgument);
  wrap(JSON, 'stringify', ofResult);
  wrap(TextEncoder.prototype, 'encode', ofResult);
  wrap(TextDecoder.prototype, 'decode', ofArgument);
  wrap(Uint8Array.prototype, 'set', ofArgument);
  wrap(Uint8Array.prototype, 'slice', ofResult);
  for (const name of ['copy', 'write', 'toString', 'utf8Write', 'latin1Slice'])
    if (name in Buffer.prototype) wrap(Buffer.prototype, name, ofResult);
  // A view of memory that is there already copies nothing.
  wrap(Buffer, 'from', (result, [first]) => (first instanceof ArrayBuffer ? 0 : lengthOf(result)));
  wrap(Buffer, 'concat', ofResult);
  return () => bytes;
}
