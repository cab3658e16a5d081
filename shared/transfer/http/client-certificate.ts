import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/address.ts';

/**
 * The client certificate of an Endpoint for TLS; undefined if there is none. Throws a config TransferError that says what is wrong with
 * the certificate, because most servers would only close the connection.
 */
export function clientCertificate(
  { certificate, key }: TlsSettings,
  now = Date.now(),
): { cert: string; key: string } | undefined {
  if (certificate === undefined || key === undefined) return undefined;
  const first = read('tls.crt', 'a certificate', () => new X509Certificate(certificate));
  const privateKey: KeyObject = read('tls.key', 'a private key without a password', () =>
    createPrivateKey(key),
  );
  if (!first.checkPrivateKey(privateKey))
    throw unusable('tls.key is not the key of the first certificate in tls.crt: replace both together');
  if (now > first.validToDate.getTime()) throw unusable(`it expired on ${first.validTo}: renew it`);
  if (now < first.validFromDate.getTime())
    throw unusable(`it is not valid before ${first.validFrom}: check the clock, or issue it anew`);
  return { cert: certificate, key };
}

function read<T>(name: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    // The parser's message might quote the key.
    throw unusable(`${name} must be ${what}, as PEM`);
  }
}

function unusable(why: string): TransferError {
  const what = 'The client certificate (tls.crt and tls.key of the Secret in spec.secretRef)';
  return new TransferError('config', `${what} of the Endpoint cannot be used: ${why}.`);
}

/** TLS alerts with which servers demand or reject a client certificate. */
const alert = /_ALERT_(CERTIFICATE_\w+|\w+_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)$/;

/** Explains a TLS alert about the client certificate, and what to do; undefined for other codes. */
export function certificateAlert(code: string, endpoint: string): string | undefined {
  const name = alert.exec(code)?.[1];
  if (name === undefined) return undefined;
  const secret = `the Secret of Endpoint "${endpoint}" (spec.secretRef)`;
  if (name === 'CERTIFICATE_REQUIRED')
    return `it requires a client certificate (${code}): add tls.crt and tls.key to ${secret}`;
  if (name === 'CERTIFICATE_EXPIRED')
    return `it reports that the client certificate has expired (${code}): renew tls.crt and tls.key in ${secret}, and check the clocks of both machines`;
  if (name === 'UNKNOWN_CA')
    return `it does not trust the CA of the client certificate (${code}): store a tls.crt issued by a CA that it trusts, with the intermediate certificates, in ${secret}`;
  return `it ended the TLS handshake (${code}): it may require a client certificate, or reject the one in ${secret}: check tls.crt and tls.key`;
}

/** Texts of nginx's 400 response to a client without a certificate, or with one that it rejects. */
const refusals: readonly (readonly [text: string, why: string])[] = [
  ['No required SSL certificate was sent', 'it requires a client certificate: add tls.crt and tls.key to'],
  ['The SSL certificate error', 'it rejects the client certificate: check tls.crt and tls.key in'],
];

/** Explains a response that demands or rejects the client certificate in its text, and what to do; undefined for other responses. */
export function certificateRefusal(
  status: number,
  body: Uint8Array | undefined,
  endpoint: string,
): string | undefined {
  if (status !== 400 || body === undefined) return undefined;
  const text = Buffer.from(body).toString('latin1');
  const why = refusals.find(([quote]) => text.includes(quote))?.[1];
  return why && `${why} the Secret of Endpoint "${endpoint}" (spec.secretRef)`;
}
