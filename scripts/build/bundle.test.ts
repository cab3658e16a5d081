import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from '../../test/fixtures/program.ts';
import { bundleKubeconfig, functionSettings } from './bundle.ts';

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
      import { ArcError } from '#shared/errors';
      import { createLogger } from '#shared/telemetry';
      function refuses() { throw new ArcError('Conflict', 'lost'); }
      try { refuses(); } catch (err) { createLogger({ name: 'unit' }).error({ err }, 'failed'); }
    `);
    expect(lines).toMatchObject([
      { err: { type: 'ArcError', code: 'Conflict', stack: expect.stringContaining('at refuses (') } },
    ]);
  });

  it('makes and reads events, and refuses what is none', async () => {
    const lines = await run(`
      import { parseEvent } from '#shared/events';
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
      ...{ users, contexts: [{ name: 'x', context: { cluster: 'c', user } }], 'current-context': 'x' },
    });
    const program = `
      import { createKubeClient, programAccess } from '#shared/kube';
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
