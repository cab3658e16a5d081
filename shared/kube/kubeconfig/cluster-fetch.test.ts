import { Agent } from 'node:https';
import { expect, it } from 'vitest';
import { silentServer } from '../../../test/fixtures/http/black-hole.ts';
import { createKubeClient } from '../create-client.ts';
import { clusterFetch } from './cluster-fetch.ts';

it('gives up within seconds on an API server that accepts and does not answer the TLS handshake', async () => {
  const hole = await silentServer();
  const agent = new Agent();
  try {
    const fetch = clusterFetch({ sign: async () => ({ headers: {}, agent }), refused: () => undefined });
    const server = `https://127.0.0.1:${hole.port}`;
    const client = createKubeClient({ server, fetch, userAgent: 'unit' });
    const kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
    await expect(client.get(kind, { name: 'a' })).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringContaining(`no connection to 127.0.0.1:${hole.port} within 5 s`),
    });
  } finally {
    agent.destroy();
    await hole.close();
  }
});
