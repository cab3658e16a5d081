import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { openEmbeddedStore, type Store } from '#shared/kubernetes/storage';
import { type ArcApiServerOptions, createArcApiServer } from '../index.ts';

/** An answer: an object of a kind, or a Status with its message and causes. */
export interface Answer {
  status: number;
  warnings?: string;
  body: KubeObject & { message?: string; reason?: string; details?: { causes?: { field: string }[] } };
}

export interface ArcServer {
  readonly store: Store;
  /** Sends a request in process; a PATCH is a merge patch, unless it is given another type. */
  call(method: string, at: string, body?: object, patchType?: string): Promise<Answer>;
  /** Closes server and store, and opens them again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The API server of ARC on an embedded store of its own. Everybody is `jo` and may do everything unless `options` say otherwise. */
export async function startArcServer(
  options: Partial<
    Pick<ArcApiServerOptions, 'authorize' | 'now' | 'settings' | 'authenticate' | 'clusterQuotas'>
  > = {},
): Promise<ArcServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-api-'));
  const open = async () => {
    const store = await openEmbeddedStore({ folder });
    const api = createArcApiServer({
      store,
      authenticate: async () => ({ name: 'jo', groups: [] }),
      authorize: async () => ({ allowed: true }),
      findNamespace: async () => ({ metadata: {} }),
      ...options,
    });
    return { store, api };
  };
  let opened = await open();
  const end = async () => {
    await opened.api.close();
    await opened.store.close();
  };
  return {
    get store() {
      return opened.store;
    },
    async call(method, at, body, patchType = 'application/merge-patch+json') {
      const type = method === 'PATCH' ? patchType : 'application/json';
      const headers = { 'content-type': type };
      const response = await opened.api.app.fetch(
        new Request(`http://test.invalid${at}`, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        }),
      );
      const warnings = response.headers.get('warning');
      return {
        status: response.status,
        body: (await response.json()) as Answer['body'],
        ...(warnings !== null && { warnings }),
      };
    },
    async restart() {
      await end();
      opened = await open();
    },
    async close() {
      await end();
      await rm(folder, { recursive: true });
    },
  };
}
