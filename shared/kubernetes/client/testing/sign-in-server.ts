import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { stringify } from 'yaml';
import { type Authority, createAuthority } from '../../../base/testing/authority.ts';
import { programAccess } from '../access.ts';
import type { Kind } from '../client.ts';
import { createKubeClient } from '../create-client.ts';

/** The kind that the server serves, with one Namespace. */
export const namespaces: Kind = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

/** The credentials of a request: the subject of the certificate, and headers. */
interface Seen {
  certificate: string | undefined;
  authorization: string | undefined;
  impersonated: string | string[] | undefined;
  groups: string[] | undefined;
  uid: string | string[] | undefined;
}

/** Parts of a kubeconfig in addition to a context for the server. */
export interface Kubeconfig {
  cluster?: object;
  user?: object;
  more?: object;
}

/** An API server with TLS that records credentials, and a folder for kubeconfigs, for tests of authentication. */
export interface SignInServer {
  readonly authority: Authority;
  /** `https://127.0.0.1:<port>`. */
  readonly server: string;
  readonly port: number;
  readonly folder: string;
  seen: Seen[];
  /** The HTTP status of every response. */
  status: number;
  /** Resets the records, and creates a new folder that contains only `ca.crt`. */
  clear(): Promise<void>;
  /** Returns the path of a file in the folder. */
  file(name: string): string;
  put(name: string, text: string): Promise<void>;
  /** Writes a kubeconfig with one context; its paths are relative to it. Returns its path. */
  kubeconfig(config: Kubeconfig, name?: string): Promise<string>;
  /** Sends a request with a kubeconfig. Resolves with its recorded credentials; rejects like the client. */
  seenBy(config: Kubeconfig): Promise<Seen | undefined>;
  close(): Promise<void>;
}

/** Starts a server. Call `clear` before its first use. */
export async function startSignInServer(): Promise<SignInServer> {
  const authority = await createAuthority('cluster');
  const pair = await authority.issue({ name: 'api' }, { hosts: ['localhost', '127.0.0.1'], use: 'server' });
  const tls = { ...pair, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
  const listening = createServer(tls, answer).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const server = `https://127.0.0.1:${port}`;
  let folder = '';

  function answer(request: IncomingMessage, response: ServerResponse): void {
    api.seen.push(seenOf(request));
    response.writeHead(api.status, { 'content-type': 'application/json' });
    if (!request.url?.includes('watch=')) response.end(JSON.stringify(object('default')));
    else response.write(`${JSON.stringify({ type: 'ADDED', object: object('first') })}\n`);
  }
  const remove = async () => {
    if (folder !== '') await rm(folder, { recursive: true });
  };

  const api: SignInServer = {
    authority,
    server,
    port,
    get folder() {
      return folder;
    },
    seen: [],
    status: 200,
    async clear() {
      await remove();
      folder = await mkdtemp(path.join(tmpdir(), 'arc-access-'));
      api.seen = [];
      api.status = 200;
      await api.put('ca.crt', authority.cert);
    },
    file: (name) => path.join(folder, name),
    put: (name, text) => writeFile(api.file(name), text),
    async kubeconfig({ cluster = {}, user = {}, more = {} }, name = 'config') {
      const document = {
        clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt', ...cluster } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
        ...more,
      };
      await api.put(name, stringify(document));
      return api.file(name);
    },
    async seenBy(config) {
      const client = await clientOf({ KUBECONFIG: await api.kubeconfig(config) });
      await client.get(namespaces, { name: 'default' });
      return api.seen.at(-1);
    },
    async close() {
      listening.close().closeAllConnections();
      await remove();
    },
  };
  return api;
}

/** Returns the client of a program with an environment. */
export async function clientOf(env: Record<string, string>) {
  return createKubeClient({ ...(await programAccess(env)), userAgent: 'unit' });
}

function object(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, resourceVersion: '1' } };
}

function seenOf(request: IncomingMessage): Seen {
  const { subject } = (request.socket as TLSSocket).getPeerCertificate();
  const { authorization, 'impersonate-user': impersonated, 'impersonate-uid': uid } = request.headers;
  const { 'impersonate-group': groups } = request.headersDistinct;
  return { certificate: subject?.CN?.toString(), authorization, impersonated, groups, uid };
}
