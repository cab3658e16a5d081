/**
 * Test support: the random values of tests, in one place. `npm test` draws the same values every time; `npm run soak` draws
 * fresh values, more of them, and prints the seed. A failing soak names the seed, the path and the smallest counterexample. Keep
 * that counterexample in the test: in `examples` of `fc.assert`, or as a test of its own.
 *
 * Environment: `ARC_SEED`, an integer (default 1), and `ARC_RUNS`, the factor for the number of runs (default 1).
 */
// biome-ignore lint/style/noRestrictedImports: the one place that imports it.
import fc from 'fast-check';

/** The seed of every sequence of random values. */
export const seed = Number(process.env.ARC_SEED ?? 1);
const factor = Number(process.env.ARC_RUNS ?? 1);

/** Returns the number of runs of a property: `count` in `npm test`, more in a soak. For `numRuns` of `fc.assert`. */
export const runs = (count: number): number => Math.ceil(count * factor);

/** The timeout of a test whose time grows with `runs`, in milliseconds. */
export const timeoutOf = (milliseconds: number): number => Math.ceil(milliseconds * factor);

fc.configureGlobal({ seed, numRuns: runs(100) });

/** fast-check with the seed and the number of runs set. Tests import it from here, never from `fast-check`. */
export { fc };

/** Every Unicode character; fast-check's own `unit: 'binary'` takes a second of CPU time to set up. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

/** Returns integers from `min` up to but excluding `max`, the same sequence for the same seed (mulberry32). */
export function randomIntegers(): (min: number, max: number) => number {
  let state = seed >>> 0;
  return (min, max) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return min + Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * (max - min));
  };
}
