import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, namespaces } from '#shared/domain';
import { bundleInstalled } from '../../scripts/build/bundle.ts';
import { endpoint } from '../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';
import { runOnTerminal, terminalProgram } from '../fixtures/terminal/terminal.ts';

let api: TestApi;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-shells-'));
  const [{ file }] = await Promise.all([
    bundleInstalled(folder),
    startApi().then((started) => {
      api = started;
    }),
  ]);
  await symlink(file, path.join(folder, 'arcctl'));
  const namespace = 'team';
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await api.admin.create(endpoints, { ...endpoint('harbour'), metadata: { name: 'harbour', namespace } });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const shells = [
  ['bash', '/bin/bash', '--norc --noprofile -i', 'source <(arcctl completion bash)'],
  ['zsh', '/usr/bin/zsh', '-f -i', 'autoload -U compinit; compinit -u -D; source <(arcctl completion zsh)'],
  ['fish', '/usr/bin/fish', '--no-config -i', 'arcctl completion fish | source'],
] as const;

describe.each(shells)('in %s', (_, shell, options, load) => {
  const isThere = existsSync(shell) && existsSync(terminalProgram);

  it.skipIf(!isThere)('completes kinds, values, namespaces and names', { timeout: 500_000 }, async () => {
    const env = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      KUBECONFIG: api.kubeconfig,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PS1: 'ready> ',
    };
    const terminal = runOnTerminal(`${shell} ${options}`, { env, rows: 40 });
    const shows = (text: string | RegExp) =>
      expect
        .poll(async () => (await terminal.screen()).join('\n'), { timeout: 90_000, interval: 50 })
        .toMatch(text);
    try {
      terminal.type(`${load}; echo lo''aded\r`);
      await shows(/^loaded/m);
      for (const [typed, completed] of [
        ['arcctl get endp', 'arcctl get endpoints'],
        ['-n tea', 'arcctl get endpoints -n team'],
        ['har', 'arcctl get endpoints -n team harbour'],
        ['--output=ya', 'arcctl get endpoints -n team harbour --output=yaml'],
      ] as const) {
        terminal.type(`${typed}\t`);
        // On a busy machine names may come too late: a person presses TAB again.
        const again = setInterval(() => terminal.type('\t'), 10_000);
        await shows(completed).finally(() => clearInterval(again));
      }
    } finally {
      terminal.type('\u0003');
      // Ctrl-D ends a shell with an empty line, which the Ctrl-C before has to make first.
      const again = setInterval(() => terminal.type('\u0004'), 200);
      await terminal.ended.finally(() => clearInterval(again));
    }
  });
});
