import * as http from 'node:http';
import * as https from 'node:https';
import { TLSSocket } from 'node:tls';
import { failWhenCut } from '#shared/base/async';
import { type AddressGuard, guardFor } from '../http/address-guard.ts';
import { isPublic } from '../http/address-ranges.ts';
import { clientCertificate } from '../http/client-certificate.ts';
import { type HttpClient, trustedCertificates } from '../http/http-client.ts';
import type { TlsSettings } from '../reference/address.ts';

/** An HttpClient for probes: one connection per request, only to addresses that the guard allows, with small headers. */
export interface ProbeClient extends HttpClient {
  /** The expiry of the certificate last seen at `host` (with port); undefined without TLS. */
  certificateExpiry(host: string): Date | undefined;
}

const maxHeaderSize = 64 * 1024;

/**
 * Creates a client for requests without a body, bounded by the signal of each request. The client certificate is offered only to URLs for which
 * `mayIdentify` is true. Throws a config TransferError for unreadable certificates.
 */
export function createProbeClient(
  tls: TlsSettings,
  guard: AddressGuard,
  mayIdentify: (url: URL) => boolean,
): ProbeClient {
  const expiries = new Map<string, Date>();
  const secure = {
    ...(tls.ca === undefined ? {} : { ca: trustedCertificates(tls.ca) }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  };
  const certificate = clientCertificate(tls);
  return {
    certificateExpiry: (host) => expiries.get(host),
    close: () => undefined,
    send: ({ method, url, headers, body, publicOnly, signal }) =>
      new Promise((resolve, reject) => {
        const { check, lookup } = guardFor(guard, url, publicOnly);
        check(url.hostname);
        const encrypted = url.protocol === 'https:';
        const options = { method, headers, signal, agent: false, maxHeaderSize, lookup };
        const outgoing = encrypted
          ? https.request(url, { ...options, ...secure, ...(mayIdentify(url) && certificate) })
          : http.request(url, options);
        outgoing.on('error', reject);
        failWhenCut(outgoing, reject);
        outgoing.once('response', (incoming) => {
          const expiry = expiryOf(incoming);
          if (expiry !== undefined) expiries.set(url.host, expiry);
          const fromPublic = isPublic(incoming.socket.remoteAddress ?? '');
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: incoming,
            fromPublic,
          });
        });
        const content = body?.();
        outgoing.end(content instanceof Uint8Array ? content : undefined);
      }),
  };
}

function expiryOf({ socket }: http.IncomingMessage): Date | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const at = Date.parse(socket.getPeerCertificate().valid_to ?? '');
  return Number.isNaN(at) ? undefined : new Date(at);
}
