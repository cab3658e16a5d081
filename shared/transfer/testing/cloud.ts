import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Authority, createAuthority } from '../../base/testing/authority.ts';
import { listen } from './front.ts';

/** Handles a request to one host of a cloud; its body has been read. */
export type CloudService = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** The servers of a cloud under their real names, with TLS, behind a proxy: clients need no test option to reach them. */
export interface Cloud {
  /** The value of HTTPS_PROXY. */
  proxy: string;
  /** The CA of their certificates as PEM, which clients trust by NODE_EXTRA_CA_CERTS. */
  authority: string;
  /** Each request: `<method> <host><path>`. */
  requests: string[];
  /** Requested hosts that do not exist. */
  strangers: string[];
  close(): Promise<void>;
}

/** Starts the services, by host. */
export async function startCloud(
  services: Readonly<Record<string, CloudService>>,
  given?: Authority,
): Promise<Cloud> {
  const authority = given ?? (await createAuthority('authority of the cloud'));
  const requests: string[] = [];
  const strangers: string[] = [];
  const own = await authority.issue({ name: 'cloud' }, { hosts: Object.keys(services) });
  const servers = https.createServer(own, (request, response) => {
    const { host = '' } = request.headers;
    requests.push(`${request.method} ${host}${request.url}`);
    const service = services[host];
    if (service === undefined) response.writeHead(421).end();
    else
      buffer(request).then(
        (body) => service(request, response, body),
        () => response.destroy(),
      );
  });
  const inner = await listen(servers);
  const proxy = http.createServer().on('connect', (request, near, head) => {
    const [host = '', port] = (request.url ?? '').split(':');
    if (services[host] === undefined || port !== '443') {
      strangers.push(request.url ?? '');
      near.end('HTTP/1.1 502 No such host\r\n\r\n');
      return;
    }
    const far = net.connect(inner.port, '127.0.0.1', () => {
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      far.write(head);
      near.pipe(far).pipe(near);
    });
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  const outer = await listen(proxy);
  return {
    proxy: `http://127.0.0.1:${outer.port}`,
    authority: authority.cert,
    requests,
    strangers,
    async close() {
      await Promise.all([inner.close(), outer.close()]);
    },
  };
}

/** Responds with JSON. */
export function answer(response: ServerResponse, status: number, value: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));
}

/** The fields of a form; undefined for another content type, or a repeated field. */
export function formOf({ headers }: IncomingMessage, body: Buffer): Record<string, string> | undefined {
  const fields = [...new URLSearchParams(body.toString())];
  const form = Object.fromEntries(fields);
  const type = headers['content-type'];
  const once = Object.keys(form).length === fields.length;
  return type === 'application/x-www-form-urlencoded' && once ? form : undefined;
}
