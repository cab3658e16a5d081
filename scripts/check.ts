/** `npm run check`: types, lint and format, tree checks, commit subjects, generated documents, bundle budgets. Runs all, and fails if one fails. */
import { spawnSync } from 'node:child_process';
import { overBudget } from './build/budgets.ts';
import { buildFunctions, bundleCommands } from './build/bundle.ts';
import { buildConsole, consoleOverBudget } from './build/console.ts';
import { checkCommits } from './checks/commits.ts';
import { checkTree } from './checks/main.ts';
import { staleReference } from './reference/api-reference.ts';

const problems: string[] = [];

function run(name: string, command: string, args: string[]): void {
  console.log(`check: ${name}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) problems.push(`${name} failed`);
}

run('types', 'tsc', ['-p', '.']);
run('types of the console', 'tsc', ['-p', 'scripts/arcctl/console/app']);
run('lint and format', 'biome', ['check', '--error-on-warnings', '.']);

console.log(
  'check: imports, folders, circles, test support, links and names of documents, tests of SECURITY.md',
);
problems.push(...(await checkTree('.')));

console.log('check: subjects of commits');
problems.push(...checkCommits('.'));

console.log('check: generated documents');
problems.push(...[await staleReference('.')].filter((problem) => problem !== undefined));

console.log('check: bundles');
const bundles = [...(await buildFunctions('dist')), ...(await bundleCommands('dist'))];
for (const { name, bytes } of bundles)
  console.log(`  ${name.padEnd(20)} ${(bytes / 1024).toFixed(0).padStart(5)} KiB`);
problems.push(...overBudget(bundles), ...consoleOverBudget((await buildConsole()).assets));

for (const problem of problems) console.error(`check: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
