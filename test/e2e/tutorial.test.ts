import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Registry, startRegistry } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { collect } from '../fixtures/program.ts';

const root = path.resolve(import.meta.dirname, '../..');
const account = { username: 'robot', password: 'tutorial-secret' };
let folder: string;
let registry: Registry;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-tutorial-'));
  registry = await startRegistry(account);
  for (const name of ['arcctl', 'arc-transfer']) {
    const file = path.join(folder, name);
    await writeFile(file, `#!/bin/sh\nexec ${process.execPath} ${root}/scripts/${name}/main.ts "$@"\n`);
    await chmod(file, 0o755);
  }
});
afterAll(async () => {
  await registry?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Block {
  /** What follows the language. */
  note: string;
  text: string;
}

async function blocks(): Promise<Block[]> {
  const page = await readFile(path.join(root, 'docs/tutorial.md'), 'utf8');
  return [...page.matchAll(/^```sh *(.*)\n([\s\S]*?)^```$/gm)].map(([, note = '', text = '']) => ({
    note,
    text,
  }));
}

it('docs/tutorial.md: its commands do what it says', { timeout: 900_000 }, async () => {
  const all = await blocks();
  expect(new Set(all.map(({ note }) => note))).toEqual(
    new Set(['', 'setup', 'second terminal', 'yours', 'fails']),
  );
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    HOME: folder,
    DOCKER_CONFIG: path.join(folder, 'docker'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  };
  // `npm start` keeps its state in the folder that it is started in, and finds its own files by itself.
  const start = ['scripts/start.ts', '--with-registry', '--folder', path.join(folder, '.arc')];
  const standalone = spawn(process.execPath, start, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = collect(standalone);
  try {
    await eventually('npm start to be ready', 300_000, () =>
      expect(said.stdout).toContain('Ctrl-C stops it'),
    );
    // One shell, as a person has it: what a block exports, the next ones use.
    const script = all.flatMap(({ note, text }, index) => {
      if (note === 'setup' || note === 'second terminal') return [];
      const values = `export REGISTRY=${registry.url} ACCOUNT=${account.username} PASSWORD=${account.password}\n`;
      const body = note === 'yours' ? values : text;
      const run = note === 'fails' ? `if (\n${body})\nthen echo "it did not fail"; exit 1; fi` : body;
      return [`echo "== block ${index}"`, run];
    });
    const shell = spawn('/bin/bash', ['-ec', script.join('\n')], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = collect(shell);
    const code = await new Promise((resolve) => shell.once('close', resolve));
    expect(code, `${output.stdout}\n${output.stderr}`).toBe(0);
    expect(output.stdout).toMatch(/^app: Succeeded$/m);
    expect(output.stdout).toMatch(/app +oci +run/);
    expect(output.stdout).toMatch(/^1\.0$/m);
    expect(output.stdout).toContain('rolled back to revision');
    expect(output.stdout).toContain('order.arc.opendefense.cloud/mine deleted');
    expect([...(registry.contents.get('tutorial/app')?.tags.keys() ?? [])].toSorted()).toEqual([
      '1.0',
      'stable',
    ]);
  } finally {
    const closed = new Promise((resolve) => standalone.once('close', resolve));
    standalone.kill('SIGINT');
    await closed;
  }
});
