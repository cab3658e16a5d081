import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seedImage, startRegistry } from '#shared/local';
import { digestOf, type Policy } from '#shared/transfer';
import { transferPredicate } from '../../shared/transfer/attest/statement.ts';
import { type CopyRequest, copyImage } from '../../shared/transfer/testing/copy-image.ts';
import { grypeReport, trivyReport } from '../../shared/transfer/testing/reports.ts';
import { attach } from '../../shared/transfer/testing/signing.ts';
import { Sigstore } from '../../shared/transfer/testing/sigstore.ts';
import { transferFailure } from '../../shared/transfer/testing/transfer-failure.ts';
import { crane, type RegistryProcess, startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import { type SigstoreServices, startSigstoreServices } from '../fixtures/judges/sigstore-services.ts';
import { judgeBy, transferJudges } from '../fixtures/judges/transfer-judges.ts';

const tools = transferJudges();
if (!tools)
  console.log(
    'skipped: what cosign says of signatures needs REGISTRY_TOOLS with .ci/transfer-judges/build.sh',
  );
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The two forms in which cosign 3 attaches signatures: as version 2 did, under a tag, and as a bundle that refers to the image. */
const forms = {
  tag: ['--new-bundle-format=false'],
  bundle: [],
} as const;
const offline = ['--use-signing-config=false', '--tlog-upload=false'];
const formNames = ['tag', 'bundle'] as const;
const withoutLog = '--insecure-ignore-tlog=true';

describe.skipIf(!tools)('cosign itself', () => {
  let folder = '';
  let source: RegistryProcess;
  let destination: RegistryProcess;
  const inFolder = (name: string) => path.join(folder, name);
  const cosign = (...args: string[]) =>
    judgeBy(tools ?? '', ['cosign', ...args], { home: folder, COSIGN_PASSWORD: '' });
  /** Of `maker` or `other`. */
  const publicKey = (name: string) => readFile(inFolder(`${name}.pub`), 'utf8');

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-cosign-'));
    source = await startRegistryProcess(tools ?? '');
    destination = await startRegistryProcess(tools ?? '');
    for (const name of ['maker', 'other'])
      await cosign('generate-key-pair', '--output-key-prefix', inFolder(name));
  });
  afterAll(async () => {
    await Promise.all([source?.stop(), destination?.stop()]);
    if (folder !== '') await rm(folder, { recursive: true });
  });

  /** An image of two platforms at the source, named after a test; resolves with its digest. */
  async function seed(name: string): Promise<string> {
    const registry = await startRegistry();
    try {
      const { digest } = await seedImage(registry, name, '1', { layerBytes: 100, signature: false });
      await crane(tools ?? '', 'copy', `${registry.host}/${name}:1`, `${source.host}/${name}:1`);
      return digest;
    } finally {
      await registry.close();
    }
  }
  const sign = (name: string, digest: string, ...flags: readonly string[]) =>
    cosign('sign', '--yes', ...flags, `${source.host}/${name}@${digest}`);
  const signByKey = (name: string, digest: string, form: keyof typeof forms) =>
    sign(name, digest, '--key', inFolder('maker.key'), ...offline, ...forms[form]);

  const copy = (name: string, policy: Policy, more: Partial<CopyRequest> = {}) =>
    copyImage({
      policy,
      workDir: folder,
      retry: { attempts: 1 },
      signal: AbortSignal.timeout(60_000),
      source: { name: 'src', remoteURL: `http://${source.host}`, image: `${name}:1` },
      destination: { name: 'dst', remoteURL: `http://${destination.host}`, image: `${name}:1` },
      ...more,
    });
  /** What the destination has under which tag. */
  const tagsOf = async (name: string) => {
    const tags = (await crane(tools ?? '', 'ls', `${destination.host}/${name}`)).trim().split('\n');
    const digests = tags.map((tag) => crane(tools ?? '', 'digest', `${destination.host}/${name}:${tag}`));
    return Object.fromEntries((await Promise.all(digests)).map((digest, at) => [tags[at], digest]));
  };
  const landed = (name: string) => `${destination.host}/${name}:1`;
  const verify = (name: string, ...flags: string[]) => cosign('verify', ...flags, landed(name));
  const verifyByKey = (name: string, key = 'maker') =>
    verify(name, '--key', inFolder(`${key}.pub`), withoutLog);

  describe.each(formNames)('signs by a key, in the form of a %s', (form) => {
    const name = `by-key/${form}`;
    let digest = '';
    beforeAll(async () => {
      digest = await seed(name);
      await signByKey(name, digest, form);
    });

    it('and a policy with another key denies the image', async () => {
      const denied = await transferFailure(
        copy(name, { requiredSigners: { anyOf: [await publicKey('other')] } }),
      );
      expect(denied.reason).toBe('denied-by-policy');
      expect(denied.message).toContain('1 by another signer');
      await expect(crane(tools ?? '', 'digest', landed(name))).rejects.toThrow('UNKNOWN');
    });

    it('and a policy with the key lets it pass, to where cosign verifies it', async () => {
      const passed = await copy(name, { requiredSigners: { anyOf: [await publicKey('maker')] } });
      expect(passed.digest).toBe(digest);
      expect(await verifyByKey(name)).toContain(digest);
      await expect(verifyByKey(name, 'other')).rejects.toThrow(/no matching|invalid signature/);
    });
  });

  it.each(formNames)(
    'verifies signatures of both sides after a repeat, in the form of a %s',
    async (form) => {
      const name = `both-sides/${form}`;
      const digest = await seed(name);
      await signByKey(name, digest, form);
      await copy(name, {});
      const there = `${destination.host}/${name}@${digest}`;
      await cosign('sign', '--yes', '--key', inFolder('other.key'), ...offline, ...forms[form], there);
      await signByKey(name, digest, form);
      for (let repeat = 0; repeat < 2; repeat += 1) {
        expect(await copy(name, {})).toMatchObject({ warnings: [] });
        for (const key of ['maker', 'other']) expect(await verifyByKey(name, key)).toContain(digest);
      }
      const before = await tagsOf(name);
      await copy(name, {});
      expect(await tagsOf(name)).toEqual(before);
    },
  );

  describe('verifies what ARC attests', () => {
    const key = (type: 'ed25519' | 'ec') => {
      const pair =
        type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
      return { ...pair, pem: String(pair.publicKey.export({ format: 'pem', type: 'spki' })) };
    };
    const attestations = (name: string, type: string, file: string, reference = landed(name)) =>
      cosign(...['verify-attestation', '--key', inFolder(file), withoutLog, '--type', type], reference);
    const statements = (lines: string) =>
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(Buffer.from(JSON.parse(line).payload, 'base64').toString()));

    it.each(['ed25519', 'ec'] as const)('with a key of %s: the transfer, and no other key', async (type) => {
      const name = `attested/${type}`;
      const digest = await seed(name);
      const { privateKey, pem } = key(type);
      await writeFile(inFolder(`${type}.pub`), pem);
      await copy(name, {}, { attest: { key: privateKey, policy: '{}' } });
      const [statement] = statements(await attestations(name, transferPredicate, `${type}.pub`));
      expect(statement).toMatchObject({
        subject: [{ digest: { sha256: digest.slice('sha256:'.length) } }],
        predicate: { policy: '{}', source: { uri: `oci://${source.host}/${name}` } },
      });
      await expect(attestations(name, transferPredicate, 'other.pub')).rejects.toThrow(/no matching/);
    });

    it('and the report of each image', async () => {
      const name = 'attested/scanned';
      await seed(name);
      const { privateKey, pem } = key('ed25519');
      await writeFile(inFolder('reports.pub'), pem);
      const { manifests } = JSON.parse(await crane(tools ?? '', 'manifest', `${source.host}/${name}:1`));
      const image = `${manifests[0].digest}`;
      const report = grypeReport({ manifestDigest: image }, [{ id: 'CVE-2024-0001', severity: 'Low' }]);
      const reportsFolder = inFolder('reports');
      await mkdir(reportsFolder);
      await writeFile(path.join(reportsFolder, '0.json'), JSON.stringify(report));
      await copy(name, {}, { attest: { key: privateKey }, reportsFolder });
      const reference = `${destination.host}/${name}@${image}`;
      const [statement] = statements(await attestations(name, 'vuln', 'reports.pub', reference));
      expect(statement.predicate.scanner.result).toEqual(report);
    });

    it('and takes it for a signature, which no policy does', async () => {
      const name = 'attested/only';
      const digest = await seed(name);
      const { privateKey, pem } = key('ed25519');
      await writeFile(inFolder('attests.pub'), pem);
      await copy(name, {}, { attest: { key: privateKey } });
      expect(await verifyByKey(name, 'attests')).toContain(digest);
      const onward = {
        source: { name: 'src', remoteURL: `http://${destination.host}`, image: `${name}:1` },
        destination: { name: 'dst', remoteURL: `http://${destination.host}`, image: 'attested/onward:1' },
      };
      const denied = await transferFailure(copy(name, { requiredSigners: { anyOf: [pem] } }, onward));
      expect(denied.message).toContain('1 by an accepted signer, but for something else');
    });

    it('beside a signature under a tag, which cosign finds when it is told not to look for bundles', async () => {
      const name = 'attested/signed';
      await signByKey(name, await seed(name), 'tag');
      await copy(name, {}, { attest: { key: key('ed25519').privateKey } });
      await expect(verifyByKey(name)).rejects.toThrow(/no matching/);
      expect(
        await verify(name, '--key', inFolder('maker.pub'), withoutLog, '--new-bundle-format=false'),
      ).toContain('cosign container image signature');
    });
  });

  it('attests a report, by which a policy judges', async () => {
    const name = 'scanned/app';
    const digest = await seed(name);
    const config = JSON.parse(
      await crane(tools ?? '', 'config', '--platform', 'linux/amd64', `${source.host}/${name}@${digest}`),
    );
    expect(config.os).toBe('linux');
    const { manifests } = JSON.parse(await crane(tools ?? '', 'manifest', `${source.host}/${name}:1`));
    for (const { digest: image } of manifests) {
      const manifest = JSON.parse(await crane(tools ?? '', 'manifest', `${source.host}/${name}@${image}`));
      const report = trivyReport(manifest.config.digest, [{ id: 'CVE-2024-0001', severity: 'HIGH' }]);
      const predicate = { invocation: {}, scanner: { uri: 'trivy', result: report }, metadata: {} };
      await writeFile(inFolder('vuln.json'), JSON.stringify(predicate));
      await cosign(
        ...['attest', '--yes', '--key', inFolder('maker.key'), ...offline],
        ...['--type', 'vuln', '--predicate', inFolder('vuln.json'), `${source.host}/${name}@${image}`],
      );
    }
    const signers = [await publicKey('maker')];
    const denied = await transferFailure(copy(name, { vulnerabilities: { max: { high: 0 }, signers } }));
    expect(denied.message).toMatch(/rule vulnerabilities\.max.* CVE-2024-0001/);
    const strange = { vulnerabilities: { signers: [await publicKey('other')] } };
    expect((await transferFailure(copy(name, strange))).message).toMatch(/rule vulnerabilities\.notScanned/);
    const passed = await copy(name, { vulnerabilities: { max: { critical: 0 }, signers } });
    expect(passed.digest).toBe(digest);
  });

  describe('without a key', () => {
    const sigstore = new Sigstore();
    const identity = 'https://github.com/acme/app/.github/workflows/release.yml@refs/tags/v1.0';
    const issuer = 'https://token.actions.githubusercontent.com';
    const by = (pattern: string): Policy => ({
      requiredSigners: {
        anyOf: [{ identity: pattern, issuer }],
        trustedRoot: digestOf(Buffer.from(sigstore.trustedRoot())),
      },
    });
    const trustedRoot = () => inFolder('trusted_root.json');
    const keyless = (...flags: string[]) => [
      ...['--trusted-root', trustedRoot(), '--certificate-identity', identity],
      ...['--certificate-oidc-issuer', issuer, ...flags],
    ];
    let services: SigstoreServices;
    beforeAll(async () => {
      services = await startSigstoreServices(sigstore);
      await writeFile(trustedRoot(), sigstore.trustedRoot());
    });
    afterAll(() => services?.stop());

    it.each(formNames)('signs with a certificate, and a policy names who: %s', async (form) => {
      const name = `keyless/${form}`;
      const digest = await seed(name);
      await sign(name, digest, ...services.flags, '--trusted-root', trustedRoot(), ...forms[form]);
      const more = { trustedRoot: trustedRoot() };
      const denied = await transferFailure(copy(name, by('https://github.com/other/*'), more));
      expect(denied.message).toContain(`by "${identity}" of "${issuer}"`);
      expect((await copy(name, by('https://github.com/acme/*'), more)).digest).toBe(digest);
      expect(await verify(name, ...keyless())).toContain(digest);
    });

    it('signs by the second version of the log, with the time of an authority', async () => {
      const name = 'keyless/version2';
      const digest = await seed(name);
      const flags = await services.flagsOfVersion2(inFolder('signing_config.json'));
      await sign(name, digest, ...flags, '--trusted-root', trustedRoot());
      const more = { trustedRoot: trustedRoot() };
      expect((await copy(name, by('https://github.com/acme/*'), more)).digest).toBe(digest);
      expect(await verify(name, ...keyless('--use-signed-timestamps'))).toContain(digest);
    });

    it.each(['sig', 'referrer'] as const)(
      'verifies what the tests of ARC take for such signatures: %s',
      async (where) => {
        const name = `ours/${where}`;
        const registry = await startRegistry();
        try {
          const { digest } = await seedImage(registry, name, '1', { layerBytes: 100, signature: false });
          const layer = where === 'sig' ? sigstore.payloadLayer(digest) : sigstore.bundleLayer(digest);
          await attach(registry, name, digest, where, [layer]);
          const from = { name: 'src', remoteURL: registry.url, image: `${name}:1` };
          await copy(name, by('https://github.com/acme/*'), { trustedRoot: trustedRoot(), source: from });
          expect(await verify(name, ...keyless())).toContain(digest);
          await writeFile(inFolder('other_root.json'), new Sigstore().trustedRoot());
          const stranger = keyless().with(1, inFolder('other_root.json'));
          await expect(verify(name, ...stranger)).rejects.toThrow();
        } finally {
          await registry.close();
        }
      },
    );
  });
});
