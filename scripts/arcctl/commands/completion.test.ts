import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, namespaces, orders } from '#shared/domain';
import { endpoint, order } from '../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../test/fixtures/standalone/api-server.ts';
import { runOnTerminal, terminalProgram } from '../../../test/fixtures/terminal/terminal.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { complete } from './completion.ts';

let api: TestApi;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  const namespace = 'team';
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { spec } = order('app', ['a:1']);
  const artifacts = [{ ...spec.artifacts?.[0], type: 'oci', name: 'first' }];
  await api.admin.create(orders, {
    ...order('app', []),
    metadata: { name: 'app', namespace },
    spec: { ...spec, artifacts },
  });
  await api.admin.create(endpoints, { ...endpoint('harbour'), metadata: { name: 'harbour', namespace } });
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-completion-'));
  const main = path.resolve(import.meta.dirname, '../main.ts');
  await writeFile(path.join(folder, 'arcctl'), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  await chmod(path.join(folder, 'arcctl'), 0o755);
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function offered(...line: string[]): Promise<string[]> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig } });
  await complete(io, createProgram(io), line, 30_000);
  return io.printed.map((text) => text.split('\t')[0] ?? '');
}

describe('arcctl complete', () => {
  it.each([
    [['ret'], ['retry', ':4']],
    [
      ['get', 'en'],
      ['endpoints', ':4'],
    ],
    [
      ['get', 'aep', '-n', 'team', ''],
      ['harbour', ':4'],
    ],
    [
      ['get', '-n', 'team', 'endpoint/h'],
      ['endpoint/harbour', ':4'],
    ],
    [
      ['tree', '-n', 'team', 'a'],
      ['app', ':4'],
    ],
    [
      ['tree', '-n', 'te'],
      ['team', ':4'],
    ],
    [
      ['tree', '--namespace=te'],
      ['--namespace=team', ':4'],
    ],
    [
      ['logs', 'app', '-n', 'team', '--artifact', ''],
      ['first', ':4'],
    ],
    [
      ['explain', 'EndpointMis'],
      ['EndpointMissing', ':4'],
    ],
    [
      ['wait', 'app', '--for', 'condition'],
      ['condition=Ready', ':4'],
    ],
    [
      ['get', '-o', 'y'],
      ['yaml', ':4'],
    ],
    [
      ['completion', 'f'],
      ['fish', ':4'],
    ],
    [
      ['tenant', 'a'],
      ['add', ':4'],
    ],
    [['plan', '-f', ''], [':0']],
    [['tree', '--as', ''], [':4']],
    [
      ['tree', '--request-t'],
      ['--request-timeout', ':4'],
    ],
    [['get', 'nonsense', ''], [':4']],
  ])('%j', async (line, expected) => {
    expect(await offered(...line)).toEqual(expected);
  });

  it('offers contexts of the kubeconfig', async () => {
    expect(await offered('tree', '--context', '')).not.toEqual([':4']);
  });
});

const shells = [
  ['bash', '/bin/bash', '--norc --noprofile -i', 'source <(arcctl completion bash)'],
  ['zsh', '/usr/bin/zsh', '-f -i', 'autoload -U compinit; compinit -u -D; source <(arcctl completion zsh)'],
  ['fish', '/usr/bin/fish', '--no-config -i', 'arcctl completion fish | source'],
] as const;

describe.each(shells)('in %s', (_, shell, options, load) => {
  const isThere = existsSync(shell) && existsSync(terminalProgram);

  it.skipIf(!isThere)('completes kinds, values, namespaces and names', { timeout: 240_000 }, async () => {
    const env = {
      ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, KUBECONFIG: api.kubeconfig },
      ...{ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, PS1: 'ready> ' },
    };
    const terminal = runOnTerminal(`${shell} ${options}`, { env, rows: 40 });
    const shows = (text: string | RegExp) =>
      expect
        .poll(async () => (await terminal.screen()).join('\n'), { timeout: 30_000, interval: 50 })
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
        const again = setInterval(() => terminal.type('\t'), 5_000);
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
