import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { type KindDefinition, serve, type User } from '#shared/kubernetes/apiserver';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { clusterKinds } from '#shared/local';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import type { Pki } from '../../scripts/standalone/pki.ts';
import type { Server } from './client.ts';

/** Our API server on its embedded store, with the users of the corpus and `more` kinds beside ours. */
export async function startSubject(
  folder: string,
  pki: Pki,
  tokens: Server['tokens'],
  more: readonly KindDefinition[],
): Promise<{ server: Server; stop(): Promise<void> }> {
  const store = await openEmbeddedStore({ folder: path.join(folder, 'store') });
  const users = new Map<string, User>([
    [tokens.admin, { name: 'admin', groups: ['system:masters', 'system:authenticated'] }],
    [tokens.nobody, { name: 'nobody', groups: ['system:authenticated'] }],
  ]);
  const api = createArcApiServer({
    store,
    extraKinds: [...clusterKinds, ...more],
    async authenticate(request) {
      const header = request.headers.get('authorization');
      if (header === null) return undefined;
      const user = users.get(header.replace(/^Bearer /, ''));
      if (!user) throw new ArcError('Unauthorized', 'Unauthorized');
      return user;
    },
    authorize: async (user) => ({ allowed: user.groups.includes('system:masters') }),
  });
  const served = await serve(api, { certificate: pki, host: '127.0.0.1', port: 0 });
  return {
    server: {
      name: 'ours',
      url: `https://127.0.0.1:${served.port}`,
      ca: pki.ca,
      group: 'arc.opendefense.cloud',
      tokens,
    },
    async stop() {
      await served.close({ graceMs: 2_000 });
      await store.close();
    },
  };
}
