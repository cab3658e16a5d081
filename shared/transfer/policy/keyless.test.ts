import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { digestOf } from '../reference/digest.ts';
import { copyImage } from '../testing/copy-image.ts';
import { type Attachment, attach, bundleType, type Where } from '../testing/signing.ts';
import { type Made, Sigstore } from '../testing/sigstore.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { keylessVerifier } from './keyless.ts';
import type { Policy } from './policy.ts';
import type { Identity } from './signers.ts';

const name = 'team/app';
const trusted = new Sigstore();
const other = new Sigstore();
const root = trusted.trustedRoot();
const rootDigest = digestOf(Buffer.from(root));
const minute = 60_000;

const release: Identity = {
  identity: 'https://github.com/acme/*/.github/workflows/release.yml@refs/tags/*',
  issuer: 'https://token.actions.githubusercontent.com',
};
const policy = (signer: Identity = release): Policy => ({
  requiredSigners: { anyOf: [signer], trustedRoot: rootDigest },
});

let source: Registry;
let destination: Registry;
let workDir = '';
let rootFile = '';
let digest = '';
const something = digestOf(Buffer.from('something else'));

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-keyless-'));
  rootFile = path.join(workDir, 'trusted_root.json');
  await writeFile(rootFile, root);
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest } = await seedImage(source, name, '1.0', { layerBytes: 100 }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

const at = ({ url }: Registry) => ({ name: 'end', remoteURL: url, image: `${name}:1.0` });

function copy(by: Policy, trustedRoot: string | undefined = rootFile) {
  return copyImage({
    policy: by,
    ...(trustedRoot !== '' && { trustedRoot }),
    workDir,
    retry: { attempts: 1 },
    signal: new AbortController().signal,
    source: at(source),
    destination: at(destination),
  });
}

async function failure(by: Policy, file?: string) {
  const failed = await transferFailure(copy(by, file));
  expect(destination.count('POST') + destination.count('PUT') + destination.count('PATCH')).toBe(0);
  return failed;
}

async function denial(by = policy()): Promise<string> {
  const { reason, message } = await failure(by);
  expect(reason).toBe('denied-by-policy');
  expect(message).toContain(
    'Denied by policy, rule requiredSigners: none of the signers of anyOf has signed',
  );
  return message;
}

const signWith = (where: Where, layer: Attachment) => attach(source, name, digest, where, [layer]);

describe('keyless signatures', () => {
  it.each<[string, () => Promise<void>]>([
    ['a bundle of cosign 3', () => signWith('referrer', trusted.bundleLayer(digest))],
    ['a bundle under the tag', () => signWith('sig', trusted.bundleLayer(digest))],
    ['the annotations of cosign 2', () => signWith('sig', trusted.payloadLayer(digest))],
  ])('allow an image long after the certificate has expired: %s', async (_, prepare) => {
    await prepare();
    expect((await copy(policy())).digest).toBe(digest);
  });

  it('match an exact identity, or each of several', async () => {
    const mine = { identity: 'builder@example.com', issuer: 'https://accounts.example.com' };
    await signWith('referrer', trusted.bundleLayer(digest, mine));
    expect(await denial(policy({ ...mine, identity: 'uilder@example.com' }))).toContain(
      'by "builder@example.com" of "https://accounts.example.com"',
    );
    const both: Policy = { requiredSigners: { allOf: [mine, release], trustedRoot: rootDigest } };
    expect((await failure(both)).message).toContain('the signer allOf[1] has not signed');
    expect((await copy(policy(mine))).digest).toBe(digest);
    await signWith('sig', trusted.payloadLayer(digest));
    expect((await copy(both)).digest).toBe(digest);
  });

  it('count in addition to keys', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await signWith('referrer', trusted.bundleLayer(digest));
    const anyOf = { requiredSigners: { anyOf: [key, release], trustedRoot: rootDigest } };
    expect((await copy(anyOf)).digest).toBe(digest);
    // With keys alone nobody needs a trust root, and a certificate is not one of them.
    const failed = await transferFailure(copy({ requiredSigners: { anyOf: [key] } }, ''));
    expect(failed.message).toMatch(/1 by another signer or tampered with|2 by another signer/);
    expect(failed.message).not.toContain('certificates');
  });

  it.each<[string, Made, RegExp]>([
    ['another identity', { identity: 'https://github.com/evil/app' }, /by "https:\/\/github.com\/evil\/app"/],
    [
      'an identity that has the right one in it',
      {
        identity:
          'https://evil.example.com/https://github.com/acme/app/.github/workflows/release.yml@refs/tags/1',
      },
      /by "https:\/\/evil/,
    ],
    ['another issuer', { issuer: 'https://accounts.example.com' }, /of "https:\/\/accounts\.example\.com"/],
    ['a certificate that had ended', { lateMs: minute }, /Failed to verify certificate chain/],
    ['a certificate that had not begun', { lateMs: -30 * minute }, /Failed to verify certificate chain/],
    ['no entry of a log', { isRecorded: false }, /expected 1 timestamps|no transparency log entry/],
    ['an entry of another log', { log: other }, /inclusion promise could not be verified/],
    ['a certificate that another log has recorded', { recordedBy: other }, /SCT verification failed/],
    ['a certificate for servers', { usage: '1.3.6.1.5.5.7.3.1' }, /not for signing code/],
  ])('deny %s', async (_, made, found) => {
    await signWith('referrer', trusted.bundleLayer(digest, made));
    expect(await denial()).toMatch(found);
    source.contents.clear();
    ({ digest } = await seedImage(source, name, '1.0', { layerBytes: 100 }));
    await signWith('sig', trusted.payloadLayer(digest, made));
    expect(await denial()).toMatch(found);
  });

  it('deny a certificate of another CA', async () => {
    await signWith('referrer', other.bundleLayer(digest, { recordedBy: trusted, log: trusted }));
    expect(await denial()).toContain('Failed to verify certificate chain');
  });

  it.each<[string, () => Attachment]>([
    ['a bundle', () => trusted.bundleLayer(something)],
    ['annotations', () => trusted.payloadLayer(something)],
    [
      'an attestation',
      () => trusted.bundleLayer(digest, { predicateType: 'https://slsa.dev/provenance/v1' }),
    ],
  ])('deny a signature with another claim: %s', async (_, layer) => {
    await signWith('sig', layer());
    expect(await denial()).toContain('1 by an accepted signer, but for something else');
  });

  it.each<[string, (bundle: string) => string]>([
    [
      'a statement',
      (text) => changed(text, ({ dsseEnvelope }) => Object.assign(dsseEnvelope, { payload: 'e30=' })),
    ],
    [
      'a signature',
      (text) =>
        changed(text, ({ dsseEnvelope }) => Object.assign(dsseEnvelope, { signatures: [{ sig: 'eA==' }] })),
    ],
    [
      'a type',
      (text) =>
        changed(text, ({ dsseEnvelope }) => Object.assign(dsseEnvelope, { payloadType: 'text/plain' })),
    ],
    [
      'a time',
      (text) =>
        changed(text, ({ verificationMaterial }) =>
          Object.assign(verificationMaterial.tlogEntries[0] ?? {}, { integratedTime: '1700000000' }),
        ),
    ],
    [
      'an entry',
      (text) =>
        changed(text, ({ verificationMaterial }) =>
          Object.assign(verificationMaterial.tlogEntries[0] ?? {}, { canonicalizedBody: 'e30=' }),
        ),
    ],
    [
      'no certificate',
      (text) =>
        changed(text, ({ verificationMaterial }) =>
          Object.assign(verificationMaterial, { certificate: undefined, publicKey: { hint: 'x' } }),
        ),
    ],
    [
      'a certificate of garbage',
      (text) =>
        changed(text, ({ verificationMaterial }) =>
          Object.assign(verificationMaterial, { certificate: { rawBytes: 'MIIB' } }),
        ),
    ],
    ['deep garbage', () => '['.repeat(100_000)],
    ['garbage', () => '{"dsseEnvelope":7,"verificationMaterial":[]}'],
    ['nothing', () => ''],
    ['a list', () => '[null]'],
  ])('are refused after a change: %s', (_, change) => {
    const judge = keylessVerifier(root);
    const bundle = trusted.bundle(digest).toString();
    expect(judge({ form: 'bundle', bundle: Buffer.from(bundle) })).toMatchObject({ signedDigests: [digest] });
    const verdict = judge({ form: 'bundle', bundle: Buffer.from(change(bundle)) });
    expect(verdict).toEqual({ refused: expect.any(String) });
  });

  it('are refused with too many proofs', () => {
    const bundle = changed(trusted.bundle(digest).toString(), ({ verificationMaterial: { tlogEntries } }) =>
      tlogEntries.push(...Array(10).fill(tlogEntries[0])),
    );
    const verdict = keylessVerifier(root)({ form: 'bundle', bundle: Buffer.from(bundle) });
    expect(verdict).toEqual({ refused: 'it has more than 10 log entries and timestamps' });
  });

  it.each(['{}', '', '[]', '{"Payload":{"body":"e30="}}'])('are refused with the annotation %s', (entry) => {
    const { content, annotations = {} } = trusted.payloadLayer(digest);
    const signature = Buffer.from(annotations['dev.cosignproject.cosign/signature'] ?? '', 'base64');
    const certificate = annotations['dev.sigstore.cosign/certificate'] ?? '';
    const judge = keylessVerifier(root);
    const given = { form: 'payload' as const, payload: content, signature };
    const good = { certificate, entry: annotations['dev.sigstore.cosign/bundle'] ?? '' };
    expect(judge({ ...given, certified: good })).toMatchObject({ signedDigests: [digest] });
    for (const certified of [
      { certificate, entry },
      { ...good, certificate: entry },
    ])
      expect(judge({ ...given, certified })).toEqual({ refused: expect.any(String) });
    expect(judge(given)).toEqual({ refused: expect.any(String) });
  });

  it('are ignored in a bundle that is too large', async () => {
    const content = Buffer.concat([trusted.bundle(digest), Buffer.alloc(256 * 1024, ' ')]);
    await signWith('referrer', { mediaType: bundleType, content });
    expect(await denial()).toContain('by another signer');
  });

  it.each<[string, () => Promise<string | undefined>, string]>([
    ['that is not given', async () => '', 'no file is given'],
    ['that is not there', async () => path.join(workDir, 'none.json'), 'ENOENT'],
    [
      'of another digest',
      async () => other.trustedRoot(),
      'but requiredSigners.trustedRoot of the policy is',
    ],
    ['that is too large', async () => ' '.repeat(1024 * 1024 + 1), 'it has more than 1 MiB'],
  ])('need a trust root, not one %s', async (_, prepare, why) => {
    await signWith('referrer', trusted.bundleLayer(digest));
    const given = await prepare();
    const isText = given !== undefined && given.length > 1000;
    if (isText) await writeFile(rootFile, given);
    const { reason, message } = await failure(policy(), isText ? rootFile : given);
    expect(reason).toBe('config');
    expect(message).toContain(why);
    expect(message).toContain('arc-trusted-root');
  });

  it.each([
    '',
    '[]',
    '{"tlogs":7}',
    '{"certificateAuthorities":[{"certChain":{"certificates":[{"rawBytes":"MIIB"}]}}]}',
  ])('need a trust root, not %s', (text) => {
    expect(() => keylessVerifier(text)).toThrow('it is not a trusted_root.json of Sigstore');
  });
});

/** The parts of a bundle that tests change. */
interface Changeable {
  dsseEnvelope: object;
  verificationMaterial: { tlogEntries: object[] };
}

function changed(text: string, change: (bundle: Changeable) => void): string {
  const bundle: Changeable = JSON.parse(text);
  change(bundle);
  return JSON.stringify(bundle);
}
