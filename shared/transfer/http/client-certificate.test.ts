import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../base/testing/authority.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { certificateAlert, certificateRefusal, clientCertificate } from './client-certificate.ts';
import { mayIdentifyAt } from './reach.ts';

const authority = await createAuthority('clients');
const { cert: certificate, key } = await authority.issue({ name: 'mover' }, { use: 'client' });
const day = 24 * 60 * 60 * 1000;

describe('a client certificate', () => {
  it('is used with its intermediate certificates', () => {
    const chain = `${certificate}\n${authority.cert}`;
    expect(clientCertificate({ certificate: chain, key })).toEqual({ cert: chain, key });
    expect(clientCertificate({})).toBeUndefined();
  });

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const locked = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString();
  it.each([
    ['nonsense', { certificate: 'hunter22', key }, 0, 'tls.crt must be a certificate, as PEM'],
    ['a key that is none', { certificate, key: 'hunter22' }, 0, 'tls.key must be a private key without'],
    ['a locked key', { certificate, key: locked }, 0, 'tls.key must be a private key without a password'],
    ['another key', { certificate, key: other }, 0, 'tls.key is not the key of the first certificate'],
    ['one that has expired', { certificate, key }, 40 * day, 'it expired on'],
    ['one of the future', { certificate, key }, -40 * day, 'it is not valid before'],
  ])('that is %s is refused with advice', (_, tls, later, words) => {
    const attempt = () => clientCertificate(tls, Date.now() + later);
    expect(attempt).toThrow(TransferError);
    expect(attempt).toThrow(words);
    expect(attempt).toThrow(/spec\.secretRef/);
    expect(attempt).not.toThrow('hunter22');
  });

  it("is offered only to the Endpoint's own server and listed hosts", () => {
    const knows = mayIdentifyAt('https://r.io:5000', ['auth.io', 'cdn.io:8443']);
    const shown = [
      'https://r.io:5000/v2/',
      'https://auth.io/token',
      'https://auth.io:444/',
      'https://cdn.io:8443/',
    ];
    for (const url of shown) expect([url, knows(new URL(url))]).toEqual([url, true]);
    const hidden = ['https://r.io/', 'https://x.r.io:5000/', 'https://cdn.io/', 'https://evil.example/r.io'];
    for (const url of hidden) expect([url, knows(new URL(url))]).toEqual([url, false]);
  });
});

describe("a server's complaint about a client certificate", () => {
  it.each([
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'it requires a client certificate',
      'add tls.crt and tls.key',
    ],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'has expired', 'renew tls.crt and tls.key'],
    ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', 'has expired', 'renew tls.crt and tls.key'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'does not trust the CA', 'tls.crt issued by a CA that it trusts'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'may require a client certificate', 'check tls.crt and tls.key'],
    [
      'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
      'may require a client certificate',
      'check tls.crt and tls.key',
    ],
  ])('by %s is explained', (code, what, todo) => {
    const text = certificateAlert(code, 'mirror');
    expect(text).toContain(what);
    expect(text).toContain(todo);
    expect(text).toContain('the Secret of Endpoint "mirror" (spec.secretRef)');
  });

  it.each(['CERT_HAS_EXPIRED', 'ECONNRESET', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', ''])(
    'is not %s',
    (code) => expect(certificateAlert(code, 'mirror')).toBeUndefined(),
  );

  it.each([
    ['No required SSL certificate was sent', 'it requires a client certificate: add tls.crt'],
    ['The SSL certificate error', 'it rejects the client certificate: check tls.crt'],
  ])("in nginx's words, %s, is explained", (words, text) => {
    const page = Buffer.from(
      `<html><center><h1>400 Bad Request</h1></center><center>${words}</center></html>`,
    );
    expect(certificateRefusal(400, page, 'mirror')).toContain(text);
    expect(certificateRefusal(404, page, 'mirror')).toBeUndefined();
    expect(certificateRefusal(400, Buffer.from('{}'), 'mirror')).toBeUndefined();
    expect(certificateRefusal(400, undefined, 'mirror')).toBeUndefined();
  });
});
