import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { unsignedChart } from './chart-provenance.ts';

// Made by gpg 2.2, without an end: `gpg --quick-generate-key maker@example.com nistp256 sign never`, `gpg --clearsign`. Others are made in
// test/cluster/provenance.test.ts, and judged by Helm.
const keyring = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mFIEawek4hMIKoZIzj0DAQcCAwRACL87JwDnXXEaIrcwtFYq9ZfzF0AHmS2qhwa/
fQLmGh4AonRnx0RPIi65pPglYm/B3ZIhXIklR8yUEzt6M9DXtBFtYWtlckBleGFt
cGxlLmNvbYiQBBMTCAA4FiEECwbe+tMfU2AB/TjidK6CAV49jYwFAmsHpOICGwMF
CwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQdK6CAV49jYyVwAEAnA7EQyrVJWNA
QZZWYBr4jdsdK0iK9XD1CBmy7bJlNqoBAPrcrvBuC10BHioWzbTOsUCPqMLsxa13
KLM14U9Ko5Y+
=Oa9m
-----END PGP PUBLIC KEY BLOCK-----
`;
const provenance = `-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

name: demo
version: 1.0.0

...
files:
  demo-1.0.0.tgz: sha256:0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3
-----BEGIN PGP SIGNATURE-----

iHUEARMIAB0WIQQLBt760x9TYAH9OOJ0roIBXj2NjAUCawek9QAKCRB0roIBXj2N
jAi1AP9CJiQVnHItuOzGbVdCEmoMQxlC6HxaiUDoy9ZQLM5LPAD/TGYM7b8NIAzq
vwuUZYcp7IqEEonGjxTcn3RuLkBvFtM=
=321j
-----END PGP SIGNATURE-----
`;

const archive = `sha256:${createHash('sha256').update('archive').digest('hex')}`;
const made = Date.parse('2026-11-26T04:00:00Z');
const judged = (text: string | undefined, keys = keyring, now = made, of: string | undefined = archive) =>
  unsignedChart([keys], { archive: of, provenance: text }, now);

describe('the provenance of a chart', () => {
  it('is valid if signed by a key of the policy, for the recorded archive', () => {
    expect(judged(provenance)).toBe(undefined);
    expect(judged(provenance.replaceAll('\n', '\r\n'))).toBe(undefined);
    expect(judged(provenance, keyring, made, `sha256:${'ab'.repeat(32)}`)).toMatch(/for another archive/);
  });

  it('is required of every chart, and of nothing else', () => {
    expect(unsignedChart([keyring], undefined, made)).toBe(undefined);
    expect(unsignedChart(undefined, { archive, provenance: undefined }, made)).toBe(undefined);
    expect(judged(undefined)).toMatch(/has no provenance/);
  });

  it.each<[string, string, RegExp]>([
    ['another text', provenance.replace('1.0.0\n', '1.0.1\n'), /no key of the keyring/],
    ['a text before it', `files:\n${provenance}`, /not a cleartext-signed message/],
    [
      'a header that hides text',
      provenance.replace('Hash:', 'files: x\nHash:'),
      /not a cleartext-signed message/,
    ],
    ['an empty signature', provenance.replace(/\n\niHU.*=321j/s, '\n\n'), /no key of the keyring/],
    ['a signature that is cut', provenance.replace(/\nvwuU.*=321j/s, '\n=321j'), /truncated/],
    ['what is no signature', provenance.replace('iHUE', 'AAAA'), /not an OpenPGP message/],
  ])('is not valid with %s', (_, text, why) => {
    expect(text).not.toBe(provenance);
    expect(judged(text)).toMatch(why);
  });

  it('is not valid before it was made', () =>
    expect(judged(provenance, keyring, made - 48 * 3_600_000)).toMatch(/its time is wrong/));

  it.each([
    ['is none', 'nothing'],
    ['is cut', keyring.replace(/\nKLM.*=Oa9m/s, '\n=Oa9m')],
    ['is not signed by its owner', keyring.replace('nAwU', 'nAwV').replace('yVwAEA', 'yVwAEB')],
  ])('is not evaluated if the keyring %s', (_, keys) =>
    expect(() => judged(provenance, keys)).toThrow(TransferError),
  );
});
