import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { silentServer } from '../../../../test/fixtures/http/black-hole.ts';
import { createKubeClient } from '../create-client.ts';
import { openContext } from './index.ts';

const kubeconfig = (server: string) => `
current-context: one
contexts: [{ name: one, context: { cluster: one, user: one } }]
clusters: [{ name: one, cluster: { server: '${server}' } }]
users: [{ name: one, user: { token: secret } }]`;

it.concurrent.each([
  [
    'of a kubeconfig',
    '5 s',
    (_server: string, folder: string) => ({ kubeconfig: [path.join(folder, 'config')] }),
  ],
  [
    'of its pod',
    '2 s',
    (server: string, folder: string) => ({ server, tokenFile: path.join(folder, 'token') }),
  ],
] as const)(
  'gives up on an API server %s that does not answer the TLS handshake within %s',
  async (_, limit, sourceOf) => {
    const hole = await silentServer();
    const folder = await mkdtemp(path.join(tmpdir(), 'arc-context-'));
    try {
      const server = `https://127.0.0.1:${hole.port}`;
      await writeFile(path.join(folder, 'config'), kubeconfig(server));
      await writeFile(path.join(folder, 'token'), 'secret');
      const client = createKubeClient({
        ...(await openContext(sourceOf(server, folder))),
        userAgent: 'unit',
      });
      const kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
      await expect(client.get(kind, { name: 'a' })).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        message: expect.stringContaining(`no connection to 127.0.0.1:${hole.port} within ${limit}`),
      });
    } finally {
      await rm(folder, { recursive: true });
      await hole.close();
    }
  },
);
