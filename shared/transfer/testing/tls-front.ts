import https from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Authority } from '../../base/testing/authority.ts';
import { listen, passOn } from './front.ts';

/** A TLS proxy of a plain HTTP server. */
export interface TlsFront {
  /** `https://localhost:<port>`. */
  url: string;
  /** The name in the client certificate of each request, or ''. */
  clients: string[];
  close(): Promise<void>;
}

/**
 * Starts a TLS proxy of the server at `behind` (a plain HTTP origin), with a certificate of `authority`. With `clients` it requires a client
 * certificate of that CA; otherwise a certificate is optional.
 */
export async function startTlsFront(
  behind: string,
  authority: Authority,
  clients?: Authority,
): Promise<TlsFront> {
  const seen: string[] = [];
  const own = await authority.issue({ name: 'localhost' }, { hosts: ['localhost'] });
  const asking = { requestCert: true, rejectUnauthorized: clients !== undefined };
  const trusting = clients === undefined ? {} : { ca: clients.cert };
  const server = https.createServer({ ...own, ...asking, ...trusting }, (request, response) => {
    const subject = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate().subject : null;
    seen.push(String(subject?.CN ?? ''));
    passOn(behind, request, response);
  });
  const { port, close } = await listen(server);
  return { url: `https://localhost:${port}`, clients: seen, close };
}
