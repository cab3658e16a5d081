import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Policy, TransferError } from '#shared/transfer';
import { unsignedChart } from '../../shared/transfer/policy/chart-provenance.ts';
import { digestOf } from '../../shared/transfer/reference/digest.ts';
import { chartYaml, packChart } from '../../shared/transfer/testing/charts.ts';
import { copyImage } from '../../shared/transfer/testing/copy-image.ts';
import { transferFailure } from '../../shared/transfer/testing/transfer-failure.ts';
import {
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';
import { judgeBy } from '../fixtures/judges/transfer-judges.ts';

const tools = registryTools();
const isReady = tools !== undefined && existsSync('/usr/bin/gpg');
if (!isReady)
  console.log('skipped: provenance of charts needs gpg, and REGISTRY_TOOLS with .ci/registry-tools/build.sh');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const algorithms = ['rsa2048', 'rsa4096', 'ed25519', 'nistp256', 'nistp384', 'nistp521'];

describe.skipIf(!isReady)('the provenance of a chart', () => {
  let folder = '';
  let archive: Buffer;
  const inFolder = (name: string) => path.join(folder, name);
  const gpg = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(
      'gpg',
      [
        '--homedir',
        inFolder('gpg'),
        '--batch',
        '--yes',
        '--pinentry-mode',
        'loopback',
        '--passphrase',
        '',
        ...args,
      ],
      { timeout: 60_000, encoding: 'buffer', env: { PATH: '/usr/bin:/bin', HOME: folder } },
    );
    return stdout;
  };
  const helm = (...args: string[]) => judgeBy(tools ?? '', ['helm-judge', ...args], { home: folder });
  const generate = (name: string, algorithm: string, usage = 'sign', expires = 'never') =>
    gpg('--quick-generate-key', `${name}@example.com`, algorithm, usage, expires);
  const keyring = async (name: string) => String(await gpg('--armor', '--export', `<${name}@example.com>`));

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-prov-'));
    await mkdir(inFolder('gpg'), { mode: 0o700 });
    archive = await packChart({
      'Chart.yaml': chartYaml('demo', '1.0.0', 'description: "- a"\n'),
      'values.yaml': '',
    });
    await writeFile(inFolder('demo-1.0.0.tgz'), archive);
    for (const algorithm of algorithms) await generate(algorithm, algorithm);
  });
  afterAll(async () => {
    await promisify(execFile)('gpgconf', ['--homedir', inFolder('gpg'), '--kill', 'all']).catch(
      () => undefined,
    );
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  const message = (sum = digestOf(archive)) =>
    `description: '- a'\nname: demo   \nversion: 1.0.0\n\n...\nfiles:\n  demo-1.0.0.tgz: ${sum}\n`;
  const clearsign = async (name: string, text = message(), ...flags: string[]) => {
    await writeFile(inFolder('message'), text);
    const user = ['--local-user', `<${name}@example.com>`];
    return String(await gpg(...user, ...flags, '--output', '-', '--clearsign', inFolder('message')));
  };
  const ours = (provenance: string, keys: string, nowMs = Date.now()) =>
    unsignedChart([keys], { archive: digestOf(archive), provenance }, nowMs);
  /** What `helm verify` says, or gpgv; undefined if it is content. */
  async function helms(provenance: string, name: string): Promise<string | undefined> {
    await writeFile(inFolder('demo-1.0.0.tgz.prov'), provenance);
    await writeFile(inFolder('keyring.gpg'), await gpg('--export', `<${name}@example.com>`));
    // Helm 3 knows no Ed25519: its library for OpenPGP is frozen.
    const verified =
      name === 'ed25519'
        ? promisify(execFile)('gpgv', ['--keyring', inFolder('keyring.gpg'), inFolder('demo-1.0.0.tgz.prov')])
        : helm(
            'verify',
            inFolder('demo-1.0.0.tgz'),
            inFolder('demo-1.0.0.tgz.prov'),
            inFolder('keyring.gpg'),
          );
    return verified.then(() => undefined, String);
  }
  /** Both accept it, or both refuse it. */
  async function expectVerdict(provenance: string, name: string, accepted: boolean): Promise<void> {
    const [helmSays, weSay] = [await helms(provenance, name), ours(provenance, await keyring(name))];
    expect({ helm: helmSays === undefined, arc: weSay === undefined }, `${helmSays} / ${weSay}`).toEqual({
      helm: accepted,
      arc: accepted,
    });
  }

  it.each(algorithms)('is accepted by a key of %s, and refused by another one', async (algorithm) => {
    const provenance = await clearsign(algorithm);
    await expectVerdict(provenance, algorithm, true);
    await expectVerdict(provenance, algorithm === 'nistp256' ? 'rsa2048' : 'nistp256', false);
  });

  it.each(['SHA256', 'SHA384', 'SHA512'])('is accepted with %s', async (hash) =>
    expectVerdict(await clearsign('rsa2048', message(), '--digest-algo', hash), 'rsa2048', true),
  );

  it('is accepted as Helm signs it', async () => {
    await writeFile(inFolder('secret.gpg'), await gpg('--export-secret-keys', '<rsa2048@example.com>'));
    const provenance = await helm('sign', inFolder('demo-1.0.0.tgz'), inFolder('secret.gpg'), 'rsa2048');
    await expectVerdict(provenance, 'rsa2048', true);
  });

  it.each<[string, boolean, (provenance: string) => string]>([
    ['lines that end as on Windows', true, (text) => text.replaceAll('\n', '\r\n')],
    ['blanks at the end of lines', true, (text) => text.replace('version: 1.0.0', 'version: 1.0.0 \t')],
    ['another text', false, (text) => text.replace('version: 1.0.0', 'version: 1.0.1')],
    ['another sum', false, (text) => text.replace(/sha256:[0-9a-f]{8}/, 'sha256:00000000')],
    ['a line more', false, (text) => text.replace('files:', 'files:\n  other.tgz: sha256:00')],
    ['a line less', false, (text) => text.replace("description: '- a'\n", '')],
    ['a signature that is cut', false, (text) => text.replace(/\n[^\n]+\n=/, '\n=')],
    ['no signature', false, (text) => text.replace(/-----BEGIN PGP SIGNATURE.*/s, '')],
    ['a header that hides text', false, (text) => text.replace('Hash: ', 'files: a\nHash: ')],
  ])('with %s: %s', async (_, accepted, change) =>
    expectVerdict(change(await clearsign('nistp256')), 'nistp256', accepted),
  );

  it('is refused for another archive', async () =>
    expectVerdict(await clearsign('nistp256', message(`sha256:${'ab'.repeat(32)}`)), 'nistp256', false));

  it('is accepted by a subkey that signs, and refused when that is revoked', async () => {
    await generate('subkey', 'rsa2048', 'cert');
    const [, fingerprint = ''] =
      /fpr:+([0-9A-F]{40}):/.exec(
        String(await gpg('--with-colons', '--list-keys', '<subkey@example.com>')),
      ) ?? [];
    await gpg('--quick-add-key', fingerprint, 'rsa2048', 'sign', 'never');
    await gpg('--quick-add-key', fingerprint, 'rsa2048', 'encr', 'never');
    const provenance = await clearsign('subkey');
    await expectVerdict(provenance, 'subkey', true);
    await promisify(execFile)(
      'sh',
      [
        '-c',
        `printf 'key 1\\nrevkey\\ny\\n0\\n\\ny\\nsave\\n' | gpg --homedir "$1" --batch --yes --command-fd 0 --pinentry-mode loopback --passphrase '' --edit-key "$2"`,
        'sh',
        inFolder('gpg'),
        fingerprint,
      ],
      { timeout: 60_000 },
    );
    const keys = await keyring('subkey');
    expect(() => ours(provenance, keys)).toThrow(/none of its keys may sign/);
    expect(await helms(provenance, 'subkey')).toMatch(/revoked|openpgp/);
  });

  it('is refused by a key that has expired or is revoked', async () => {
    await generate('short', 'rsa2048', 'sign', 'seconds=3');
    const provenance = await clearsign('short');
    expect(ours(provenance, await keyring('short'))).toBe(undefined);
    expect(ours(provenance, await keyring('short'), Date.now() + 5000)).toMatch(/its key has expired/);
    await generate('revoked', 'rsa2048');
    const before = await clearsign('revoked');
    await expectVerdict(before, 'revoked', true);
    const [, fingerprint = ''] =
      /fpr:+([0-9A-F]{40}):/.exec(
        String(await gpg('--with-colons', '--list-keys', '<revoked@example.com>')),
      ) ?? [];
    const certificate = await readFile(inFolder(`gpg/openpgp-revocs.d/${fingerprint}.rev`), 'utf8');
    await writeFile(inFolder('revocation'), certificate.replace(':-----BEGIN', '-----BEGIN'));
    await gpg('--import', inFolder('revocation'));
    expect(() => ours(before, `${certificate}`)).toThrow(TransferError);
    await expect(helms(before, 'revoked')).resolves.toMatch(/revoked|key/);
    const keys = await keyring('revoked');
    expect(() => ours(before, keys)).toThrow(/none of its keys may sign/);
  });

  it('lets a chart pass a policy, beside charts that are denied, and images', async () => {
    const source: RegistryProcess = await startRegistryProcess(tools ?? '');
    try {
      const push = async (name: string, provenance?: string) => {
        await writeFile(inFolder('pushed.prov'), provenance ?? '');
        const more = provenance === undefined ? [] : [inFolder('pushed.prov')];
        const reference = `${source.host}/${name}/demo:1.0.0`;
        await helm('push', inFolder('demo-1.0.0.tgz'), reference, '2024-05-06T07:08:09Z', ...more);
      };
      await push('signed', await clearsign('ed25519'));
      await push('unsigned');
      await push('strange', await clearsign('rsa2048'));
      const policy: Policy = { chartSigners: [await keyring('ed25519')] };
      const copy = (name: string) =>
        copyImage({
          policy,
          workDir: folder,
          retry: { attempts: 1 },
          signal: AbortSignal.timeout(60_000),
          source: { name: 'src', remoteURL: `http://${source.host}`, image: `${name}/demo:1.0.0` },
          destination: { name: 'dst', remoteURL: `http://${source.host}`, image: `moved/${name}:1.0.0` },
        });
      await copy('signed');
      expect((await transferFailure(copy('unsigned'))).message).toMatch(
        /rule chartSigners: the chart has no provenance/,
      );
      expect((await transferFailure(copy('strange'))).message).toMatch(/no key of the keyring has signed it/);
    } finally {
      await source.stop();
    }
  });
});
