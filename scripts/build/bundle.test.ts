import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from '../../test/fixtures/program.ts';
import { bundleInstalled, bundleKubeconfig, functionSettings } from './bundle.ts';

const require = createRequire(import.meta.url);
const node = path.join(path.dirname(require.resolve('node/package.json')), 'bin', 'node');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bundle-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function bundle(contents: string): Promise<string> {
  const outfile = path.join(folder, 'out.mjs');
  const stdin = { contents, resolveDir: import.meta.dirname };
  await build({ ...functionSettings, stdin, outfile, logLevel: 'silent' });
  return outfile;
}

/** Runs a bundle where there is no node_modules, and parses what it prints, line by line. */
async function run(contents: string, env = {}): Promise<unknown[]> {
  const program = start(node, [await bundle(contents)], env);
  expect(await program.ended, program.output.stderr).toBe(0);
  return program.output.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('a bundle of a function', () => {
  it('logs errors with their class and the functions they went through', async () => {
    const lines = await run(`
      import { ArcError } from '#shared/base/errors';
      import { createLogger } from '#shared/base/telemetry';
      function refuses() { throw new ArcError('Conflict', 'lost'); }
      try { refuses(); } catch (err) { createLogger({ name: 'unit' }).error({ err }, 'failed'); }
    `);
    expect(lines).toMatchObject([
      { err: { type: 'ArcError', code: 'Conflict', stack: expect.stringContaining('at refuses (') } },
    ]);
  });

  it('makes and reads events, and refuses what is none', async () => {
    const lines = await run(`
      import { parseEvent } from '#shared/conduit/events';
      const headers = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' };
      console.log(JSON.stringify(parseEvent(headers, '')));
      try { parseEvent({ ...headers, 'ce-time': 'now' }, ''); } catch ({ code }) { console.log(JSON.stringify({ code })); }
    `);
    expect(lines).toMatchObject([{ id: '1', source: '/s', type: 't' }, { code: 'BadRequest' }]);
  });

  it("has Node's modules in every form of import, and loads nothing behind their getters", async () => {
    const lines = await run(`
      import crypto, { createHash } from 'crypto';
      import * as all from 'node:crypto';
      const same = crypto.createHash === createHash && all.createHash === createHash;
      const loaded = process.moduleLoadList.includes('NativeModule internal/crypto/webcrypto');
      console.log(JSON.stringify({ same, loaded }));
    `);
    expect(lines).toEqual([{ same: true, loaded: false }]);
  });

  it('loads another file to read a kubeconfig, whose failures are its own', async () => {
    const api = createServer((request, response) => {
      const { authorization } = request.headers;
      response.end(JSON.stringify({ metadata: { name: authorization, resourceVersion: '1' } }));
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const { port } = api.address() as AddressInfo;
    const users = [
      { name: 'u', user: { token: 'abc' } },
      { name: 'v', user: { exec: { command: 'arc-no-such-plugin' } } },
    ];
    const kubeconfig = (user: string) => ({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users,
      contexts: [{ name: 'x', context: { cluster: 'c', user } }],
      'current-context': 'x',
    });
    const program = `
      import { createKubeClient, programAccess } from '#shared/kubernetes/client';
      const kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
      const api = createKubeClient({ ...await programAccess(process.env), userAgent: 'unit' });
      const answer = await api.get(kind, { name: 'default' }).catch(({ code, message }) => ({ code, message }));
      console.log(JSON.stringify(answer));
      process.exit(0);
    `;
    const env = { KUBECONFIG: path.join(folder, 'config') };
    try {
      await bundleKubeconfig(folder);
      await writeFile(env.KUBECONFIG, JSON.stringify(kubeconfig('u')));
      expect(await run(program, env)).toMatchObject([{ metadata: { name: 'Bearer abc' } }]);
      await writeFile(env.KUBECONFIG, JSON.stringify(kubeconfig('v')));
      expect(await run(program, env)).toMatchObject([
        { code: 'ServiceUnavailable', message: expect.stringContaining('is not installed') },
      ]);
    } finally {
      api.close().closeAllConnections();
    }
  });

  it('is not made of what was left out', async () => {
    const attempt = bundle("import { HTTP } from 'cloudevents'; console.log(HTTP);");
    await expect(attempt).rejects.toThrow(/No matching export .* "HTTP"/);
  });
});

describe('arcctl as it is installed', () => {
  let installed: string;
  beforeAll(async () => {
    const { file } = await bundleInstalled(path.join(folder, 'installed'));
    // As npm does it, and for kubectl.
    installed = path.join(folder, 'bin', 'kubectl-arc');
    await mkdir(path.dirname(installed));
    await symlink(path.relative(path.dirname(installed), file), installed);
  }, 60_000);

  async function help(env: NodeJS.ProcessEnv): Promise<string> {
    const program = start(node, [installed, '--help'], env);
    expect(await program.ended, program.output.stderr).toBe(0);
    expect(program.output.stderr).toBe('');
    return program.output.stdout;
  }

  it('starts by a link, and keeps its compiled code in the cache folder of the user', async () => {
    for (const env of [
      { HOME: path.join(folder, 'home') },
      { HOME: folder, XDG_CACHE_HOME: path.join(folder, 'xdg') },
    ])
      expect(await help(env)).toMatch(/^Usage: kubectl arc /);
    expect(await readdir(path.join(folder, 'home', '.cache', 'arcctl'))).toHaveLength(1);
    expect(await readdir(path.join(folder, 'xdg', 'arcctl'))).toHaveLength(1);
  });

  it('starts where nothing can be kept', async () => {
    const file = path.join(folder, 'no-folder');
    await writeFile(file, '');
    expect(await help({ HOME: file })).toMatch(/^Usage: kubectl arc /);
  });

  it('loads for its help neither HTTP nor TLS nor programs', async () => {
    const list = path.join(folder, 'list.cjs');
    await writeFile(list, "process.on('exit', () => console.log(JSON.stringify(process.moduleLoadList)));");
    const program = start(node, ['--require', list, installed, '--help'], { HOME: folder });
    await program.ended;
    const loaded = JSON.parse(program.output.stdout.trim().split('\n').at(-1) ?? '');
    for (const name of ['http', 'tls', 'crypto', 'child_process', 'readline', 'worker_threads'])
      expect(loaded).not.toContain(`NativeModule ${name}`);
  });

  it('is ASCII: for one other character V8 would keep all of it in two bytes each', async () => {
    const text = await readFile(path.join(folder, 'installed', 'arcctl.mjs'), 'latin1');
    expect(text.match(/.{0,40}[\u0080-\u00ff].{0,40}/)?.[0]).toBeUndefined();
  });
});
