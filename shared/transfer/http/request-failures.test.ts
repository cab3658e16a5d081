import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import {
  type RequestContext,
  registryErrors,
  registryNetworkFailure,
  registryStatusFailure,
} from './request-failures.ts';

const context: RequestContext = {
  endpoint: 'src',
  host: 'r.io',
  place: 'repository team/app',
  credentials: { kind: 'none' },
  activity: 'reading manifest 1.0',
  writing: false,
};

function body(...errors: unknown[]): Buffer {
  return Buffer.from(JSON.stringify({ errors }));
}

describe('the errors of a registry', () => {
  it('are quoted without repetition', () => {
    const unknown = { code: 'UNKNOWN', message: 'unknown error' };
    const explained = { ...unknown, detail: 'invalid URL on layer' };
    const quoted = registryErrors(body(unknown, unknown, explained));
    expect(quoted).toBe(
      ' The registry reports: UNKNOWN: unknown error; UNKNOWN: unknown error (invalid URL on layer).',
    );
  });

  it('cannot manipulate a terminal', () => {
    const quoted = registryErrors(body({ code: 'X', message: 'a\u001b[31m\r\nb\u202e' }));
    expect(quoted).toBe(' The registry reports: X: a [31m b .');
  });

  it('are omitted if the body has none', () => {
    for (const odd of [
      body(null, 7, {}),
      Buffer.from('{"errors":"x"}'),
      Buffer.from('<html>'),
      Buffer.from('null'),
    ])
      expect(registryErrors(odd)).toBe('');
    fc.assert(fc.property(fc.jsonValue(), (value) => typeof registryErrors(body(value)) === 'string'));
  });
});

describe('a TLS failure has advice about', () => {
  it('an old version', () => {
    const text = 'write EPROTO 0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version';
    const error = registryNetworkFailure(context, Object.assign(new Error(text), { code: 'EPROTO' }));
    expect(error).toMatchObject({ reason: 'config', message: expect.stringContaining('1.2 or later') });
  });

  it.each([
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another name (cert is for other.io)'],
    ['CERT_HAS_EXPIRED', 'renew it'],
    ['CERT_NOT_YET_VALID', 'clocks'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'spec.tls.caSecretRef of Endpoint "src"'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'spec.tls.caSecretRef'],
  ])('%s', (code, advice) => {
    const { reason, message } = registryNetworkFailure(
      context,
      Object.assign(new Error('cert is for other.io'), { code }),
    );
    expect(reason).toBe('config');
    expect(message).toContain(advice);
  });
});

describe('a redirect that cannot be followed', () => {
  it.each([
    ['https://other.io/x?secret=1', ' to https://other.io, which is not followed'],
    ['ftp://other.io/x', ' to ftp://other.io, which is not followed'],
    ['/x', 'redirects, which is not followed'],
  ])('to %s is reported with its host only', (location, text) => {
    const { reason, message } = registryStatusFailure(context, 302, { location });
    expect(reason).toBe('permanent');
    expect(message).toContain(text);
    expect(message).not.toContain('secret');
  });
});
