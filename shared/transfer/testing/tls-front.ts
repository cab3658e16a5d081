import https from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Authority } from '../../base/testing/authority.ts';
import { listen, passOn } from './front.ts';

/** A TLS server before a plain one. */
export interface TlsFront {
  /** `https://localhost:<port>`. */
  url: string;
  /** Who asked, request by request: the name in the client certificate, or ''. */
  clients: string[];
  close(): Promise<void>;
}

/**
 * Starts a front before the server at `behind` (a plain HTTP origin), with a certificate of `authority`. It ends the handshake of clients without a
 * certificate of `clients`; without `clients` it asks for one and takes any or none.
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
