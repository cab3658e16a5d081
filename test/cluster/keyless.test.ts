import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf, type Policy } from '#shared/transfer';
import { copyImage } from '../../shared/transfer/testing/copy-image.ts';
import { transferFailure } from '../../shared/transfer/testing/transfer-failure.ts';
import { pushAlpine } from '../fixtures/image/alpine-image.ts';
import { type RegistryProcess, startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import {
  type SigstoreInstallation,
  startSigstoreInstallation,
} from '../fixtures/judges/sigstore-installation.ts';
import { judgeBy, transferJudges } from '../fixtures/judges/transfer-judges.ts';

const tools = transferJudges();
if (!tools)
  console.log(
    'skipped: signatures by a Sigstore of one’s own need REGISTRY_TOOLS with .ci/transfer-judges/build.sh',
  );
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const release = 'release@example.com';

describe.skipIf(!tools)(
  'an image signed without a key, by Fulcio, Rekor and a timestamp authority of one’s own',
  () => {
    let folder = '';
    let source: RegistryProcess;
    let destination: RegistryProcess;
    let sigstore: SigstoreInstallation;
    let issuer = '';
    const digests: Record<string, string> = {};
    const inFolder = (name: string) => path.join(folder, name);
    const cosign = (...args: string[]) => judgeBy(tools ?? '', ['cosign', ...args], { home: folder });

    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'arc-keyless-'));
      source = await startRegistryProcess(tools ?? '');
      destination = await startRegistryProcess(tools ?? '');
      sigstore = await startSigstoreInstallation(tools ?? '', folder);
      issuer = sigstore.issuer.url;
      const flags = (email: string) => [
        ...['--yes', '--identity-token', sigstore.issuer.token(email)],
        ...['--signing-config', sigstore.signingConfig, '--trusted-root', sigstore.trustedRoot],
      ];
      for (const name of ['signed', 'attested', 'other']) {
        const digest = await pushAlpine(tools ?? '', `${source.host}/${name}/app:1`, `1.2.4-${name}`);
        digests[name] = digest;
        const image = `${source.host}/${name}/app@${digest}`;
        if (name === 'attested') {
          await writeFile(inFolder('spdx'), '{"spdxVersion":"SPDX-2.3","packages":[]}');
          const predicate = ['--type', 'spdxjson', '--predicate', inFolder('spdx')];
          await cosign('attest', ...predicate, ...flags(release), image);
        } else await cosign('sign', ...flags(name === 'signed' ? release : 'somebody@example.com'), image);
      }
      // Whatever verifies it has no network to the services.
      await sigstore.stop();
    });
    afterAll(async () => {
      await Promise.all([source?.stop(), destination?.stop(), sigstore?.stop()]);
      if (folder !== '') await rm(folder, { recursive: true });
    });

    const by = async (identity: string, from = issuer): Promise<Policy> => ({
      requiredSigners: {
        anyOf: [{ identity, issuer: from }],
        trustedRoot: digestOf(await readFile(sigstore.trustedRoot)),
      },
    });
    const copy = (name: string, policy: Policy, to = `${name}/app:1`, from = source) =>
      copyImage({
        policy,
        trustedRoot: sigstore.trustedRoot,
        workDir: folder,
        retry: { attempts: 1 },
        signal: AbortSignal.timeout(60_000),
        source: { name: 'src', remoteURL: `http://${from.host}`, image: `${name}/app:1` },
        destination: { name: 'dst', remoteURL: `http://${destination.host}`, image: to },
      });

    it('passes a policy that names who signed it, and is verified where it arrives', async () => {
      const digest = digests.signed ?? '';
      expect((await copy('signed', await by(release))).digest).toBe(digest);
      expect((await copy('signed', await by('*@example.com'), 'onward/app:1', destination)).digest).toBe(
        digest,
      );
      const landed = `${destination.host}/signed/app@${digest}`;
      const verify = (identity: string) =>
        cosign(
          ...['verify', '--trusted-root', sigstore.trustedRoot, '--use-signed-timestamps'],
          ...['--certificate-identity', identity, '--certificate-oidc-issuer', issuer, landed],
        );
      expect(await verify(release)).toContain(digest);
      await expect(verify('somebody@example.com')).rejects.toThrow(/no matching CertificateIdentity/);
    });

    it.each<[string, string, () => Promise<Policy>, RegExp]>([
      ['by somebody else', 'other', () => by(release), /by "somebody@example.com" of "http:/],
      [
        'by a token of another issuer',
        'signed',
        () => by(release, 'https://issuer.example.com'),
        /by "release@/,
      ],
      ['as part of an attestation alone', 'attested', () => by(release), /for something else/],
    ])('is denied if it is signed %s', async (_, name, policy, why) => {
      const { reason, message } = await transferFailure(copy(name, await policy()));
      expect(reason).toBe('denied-by-policy');
      expect(message).toMatch(why);
    });

    it('has an SBOM in an attestation that is signed so', async () => {
      const { sboms } = await copy('attested', { requiredSbom: true });
      expect(sboms).toMatchObject([{ subject: digests.attested, type: 'https://spdx.dev/Document' }]);
    });

    it('is carried in a bundle, and judged where no network reaches', async () => {
      const [policy, out] = [inFolder('policy.json'), inFolder('out.tar')];
      const judged = ['--policy', policy, '--trusted-root', sigstore.trustedRoot, '--json'];
      const transfer = (...args: string[]) =>
        promisify(execFile)(process.execPath, ['scripts/arc-transfer/main.ts', ...args, ...judged], {
          env: { PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder },
          timeout: 60_000,
        });
      await writeFile(policy, JSON.stringify(await by(release)));
      await transfer('export', `${source.host}/signed/app:1`, out);
      const { stdout } = await transfer('import', out, `${destination.host}/carried/`);
      expect(JSON.parse(stdout)).toMatchObject({ items: [{ digest: digests.signed, outcome: 'imported' }] });
      await writeFile(policy, JSON.stringify(await by('somebody@example.com')));
      await expect(transfer('import', out, `${destination.host}/denied/`)).rejects.toMatchObject({
        code: 15,
        stdout: expect.stringContaining('rule requiredSigners'),
      });
    });
  },
);
