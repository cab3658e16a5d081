/** `npm test`: every suite that needs npm and nothing else, then one plain line `N passed, N failed, N skipped`. */
import { startVitest } from 'vitest/node';

const vitest = await startVitest('test', process.argv.slice(2), { watch: false, reporters: ['default'] });
const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const count = (state: string) => tests.filter((test) => test.result().state === state).length;
// A suite that did not even load has no tests to count, and must not pass for that.
const broken = vitest.state
  .getTestModules()
  .filter((module) => !module.ok() && module.errors().length > 0).length;
const unhandled = vitest.state.getUnhandledErrors().length;
const failed = count('failed') + broken + unhandled;
await vitest.close();
console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`);
process.exit(failed > 0 || tests.length === 0 ? 1 : 0);
