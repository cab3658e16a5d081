import { expect, it } from 'vitest';
import { createProgram } from './program.ts';
import { quietIo } from './testing/quiet-io.ts';

/** What is said of a command line on a machine that knows no cluster. */
async function said(...args: string[]): Promise<string> {
  const io = quietIo();
  const failure: unknown = await createProgram(io)
    .parseAsync(['node', 'arcctl', ...args])
    .catch((caught: unknown) => caught);
  return [...io.notes, failure instanceof Error ? failure.message : ''].join('\n');
}

it.each([
  [['get', '--colour'], 'arcctl get --help'],
  [['tenant', 'add'], 'arcctl tenant add --help'],
  [['gett'], 'arcctl --help'],
])('%j: says which help has the answer', async (args, help) => {
  expect(await said(...args)).toContain(`Run "${help}" for usage.`);
});

it.each([
  [['plan', '-f', 'none.yaml'], 'none.yaml cannot be read'],
  [['diff', '-f', 'none.yaml'], 'none.yaml cannot be read'],
  [['create', 'registry.example.com/app:1.0'], 'give the source and the destination'],
])('%j: says what is wrong with it before a cluster is missed', async (args, problem) => {
  const text = await said(...args);
  expect(text).toContain(problem);
  expect(text).not.toContain('cluster to work for');
});

it('says what to do where there is no cluster', async () => {
  expect(await said('get')).toMatch(
    /^there is no cluster to work for: there is no ~\/\.kube\/config,.*\n.*--kubeconfig; "npm start" prints that of the standalone\.$/,
  );
});
