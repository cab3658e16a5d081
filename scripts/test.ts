/**
 * `npm test` and its variants: runs a vitest project, then prints `N passed, N failed, N skipped`.
 * usage: test.ts [--project unit|e2e|cluster|knative|release] [--related <file>] [filter ...]
 * Default project: unit. `--related`: only tests that import this file, directly or transitively.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    project: { type: 'string', multiple: true, default: ['unit'] },
    related: { type: 'string' },
  },
});
// The temporary files of all tests, including killed ones, removed at the end.
const temporary = mkdtempSync(path.join(tmpdir(), 'arc-tests-'));
process.env.TMPDIR = temporary;
// squid and PostgreSQL switch to other users, who must be able to reach their files here.
chmodSync(temporary, 0o755);
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
const vitest = await startVitest('test', positionals, {
  watch: false,
  project: values.project,
  ...(values.related === undefined ? {} : { related: values.related }),
  reporters: ['default'],
});
const modules = vitest.state.getTestModules();
const tests = modules.flatMap((module) => [...module.children.allTests()]);
const count = (state: string) => tests.filter((test) => test.result().state === state).length;
// A file that failed to load has no tests to count, and a failed beforeAll skips tests: both count as failures.
const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
const broken = suites.filter((suite) => !suite.ok() && suite.errors().length > 0).length;
const failed = count('failed') + broken + vitest.state.getUnhandledErrors().length;
await vitest.close();
console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`);
process.exit(failed > 0 || tests.length === 0 ? 1 : 0);
