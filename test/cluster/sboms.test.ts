import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { copyImage } from '../../shared/transfer/testing/copy-image.ts';
import { transferFailure } from '../../shared/transfer/testing/transfer-failure.ts';
import { pushAlpine } from '../fixtures/image/alpine-image.ts';
import { type RegistryProcess, startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import { judgeBy, transferJudges } from '../fixtures/judges/transfer-judges.ts';

const tools = transferJudges();
if (!tools)
  console.log('skipped: where tools put SBOMs needs REGISTRY_TOOLS with .ci/transfer-judges/build.sh');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const spdxPredicate = 'https://spdx.dev/Document';
const cyclonePredicate = 'https://cyclonedx.org/bom';
const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const inToto = 'application/vnd.in-toto+json';
const ociIndex = 'application/vnd.oci.image.index.v1+json';
const described = z.object({ digest: z.string(), size: z.number() });

const anyPath = '--disable-path-validation';
const offline = ['--use-signing-config=false', '--tlog-upload=false'];

/** An image at the source: a reference by digest. */
interface Image {
  repository: string;
  digest: string;
}
/** Attaches an SBOM as a tool does it. */
type Way = (image: Image) => Promise<unknown>;

describe.skipIf(!tools)('a policy that requires an SBOM', () => {
  let folder = '';
  let source: RegistryProcess;
  let destination: RegistryProcess;
  let images = 0;
  const inFolder = (name: string) => path.join(folder, name);
  const judge = (...command: [string, ...string[]]) =>
    judgeBy(tools ?? '', command, {
      home: folder,
      COSIGN_PASSWORD: '',
      PATH: `${folder}/bin:/usr/bin:/bin`,
      SYFT_REGISTRY_INSECURE_USE_HTTP: 'true',
      SYFT_CHECK_FOR_APP_UPDATE: 'false',
    });
  const oras = (...args: string[]) => judge('oras', ...args, '--plain-http');
  const regctl = (...args: string[]) => judge('regctl', '--host', `reg=${source.host},tls=disabled`, ...args);
  const at = ({ repository, digest }: Image) => `${source.host}/${repository}@${digest}`;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-sboms-'));
    source = await startRegistryProcess(tools ?? '');
    destination = await startRegistryProcess(tools ?? '');
    // Syft runs cosign, which asks services of the internet unless it is told not to.
    await mkdir(inFolder('bin'));
    const wrapped = `#!/bin/sh\nexec ${tools}/cosign "$@" ${offline.join(' ')}\n`;
    await writeFile(inFolder('bin/cosign'), wrapped, { mode: 0o755 });
    await judge('cosign', 'generate-key-pair', '--output-key-prefix', inFolder('maker'));
    const image = `${source.host}/described:1`;
    await pushAlpine(tools ?? '', image, '1.2.4-r3');
    for (const format of ['spdx-json', 'cyclonedx-json', 'syft-json', 'github-json', 'spdx-tag-value'])
      await judge('syft', 'scan', `registry:${image}`, '--quiet', '-o', `${format}=${inFolder(format)}`);
  });
  afterAll(async () => {
    await Promise.all([source?.stop(), destination?.stop()]);
    if (folder !== '') await rm(folder, { recursive: true });
  });

  async function seed(): Promise<Image> {
    images += 1;
    const repository = `team/app${images}`;
    const digest = await pushAlpine(tools ?? '', `${source.host}/${repository}:1`, `1.2.4-r${images}`);
    return { repository, digest };
  }
  const copy = (repository: string, from = source, to = `${repository}:1`) =>
    copyImage({
      policy: { requiredSbom: true },
      workDir: folder,
      retry: { attempts: 1 },
      signal: AbortSignal.timeout(60_000),
      source: { name: 'src', remoteURL: `http://${from.host}`, image: `${repository}:1` },
      destination: { name: 'dst', remoteURL: `http://${destination.host}`, image: to },
    });
  async function refused(repository: string): Promise<void> {
    expect((await transferFailure(copy(repository))).message).toMatch(/rule requiredSbom: no SBOM/);
  }

  const signed = () => ['--yes', '--key', inFolder('maker.key'), ...offline];
  const attest =
    (type: string, file: string, ...flags: string[]): Way =>
    (image) =>
      judge(
        ...(['cosign', 'attest', ...signed(), ...flags, '--type', type] as [string, ...string[]]),
        ...['--predicate', inFolder(file), at(image)],
      );
  const attach =
    (type: string, file: string): Way =>
    (image) =>
      oras('attach', anyPath, '--artifact-type', type, at(image), `${inFolder(file)}:${type}`);
  const put =
    (type: string, file: string): Way =>
    (image) =>
      regctl('artifact', 'put', '--artifact-type', type, '--subject', at(image), '--file', inFolder(file));
  const cosignAttach =
    (type: string, file: string): Way =>
    (image) =>
      judge('cosign', 'attach', 'sbom', '--type', type, '--sbom', inFolder(file), at(image));
  const syftAttest =
    (format: string): Way =>
    (image) =>
      judge('syft', 'attest', '--key', inFolder('maker.key'), '-o', format, '--from', 'registry', at(image));
  /** As `actions/attest-sbom` of GitHub pushes it. */
  const gitHub =
    (type: string, file: string, subject?: string): Way =>
    async (image) => {
      const bundle = inFolder('github.json');
      const statement = statementOf(type, file, subject ?? image.digest);
      await writeFile(inFolder('statement'), JSON.stringify(await statement));
      await judge(
        'cosign',
        'attest-blob',
        ...signed(),
        '--statement',
        inFolder('statement'),
        '--bundle',
        bundle,
      );
      await oras(
        ...[
          'attach',
          anyPath,
          '--artifact-type',
          bundleType,
          '--annotation',
          'dev.sigstore.bundle.content=dsse-envelope',
        ],
        ...[
          '--annotation',
          `dev.sigstore.bundle.predicateType=${type}`,
          at(image),
          `${bundle}:${bundleType}`,
        ],
      );
    };
  const statementOf = async (predicateType: string, file: string, ...digests: string[]) => ({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType,
    subject: digests.map((digest) => ({ name: 'app', digest: { sha256: digest.slice('sha256:'.length) } })),
    predicate: JSON.parse(await readFile(inFolder(file), 'utf8')),
  });

  const tagged = '--new-bundle-format=false';
  it.each<[string, Way, string]>([
    ['cosign attest, SPDX, under a tag', attest('spdxjson', 'spdx-json', tagged), spdxPredicate],
    ['cosign attest, SPDX as text, under a tag', attest('spdx', 'spdx-tag-value', tagged), spdxPredicate],
    [
      'cosign attest, CycloneDX, under a tag',
      attest('cyclonedx', 'cyclonedx-json', tagged),
      cyclonePredicate,
    ],
    ['cosign attest, SPDX, as a bundle', attest('spdxjson', 'spdx-json'), spdxPredicate],
    ['cosign attest, CycloneDX, as a bundle', attest('cyclonedx', 'cyclonedx-json'), cyclonePredicate],
    ['cosign attach, SPDX', cosignAttach('spdx', 'spdx-json'), 'text/spdx'],
    [
      'cosign attach, CycloneDX',
      cosignAttach('cyclonedx', 'cyclonedx-json'),
      'application/vnd.cyclonedx+xml',
    ],
    ['cosign attach, Syft', cosignAttach('syft', 'syft-json'), 'application/vnd.syft+json'],
    ['oras attach, SPDX', attach('application/spdx+json', 'spdx-json'), 'application/spdx+json'],
    ['oras attach, Syft', attach('application/vnd.syft+json', 'syft-json'), 'application/vnd.syft+json'],
    ['regctl artifact put, SPDX', put('application/spdx+json', 'spdx-json'), 'application/spdx+json'],
    ['regctl artifact put, SPDX as text', put('text/spdx', 'spdx-tag-value'), 'text/spdx'],
    ['GitHub, SPDX', gitHub(`${spdxPredicate}/v2.3`, 'spdx-json'), `${spdxPredicate}/v2.3`],
    ['GitHub, CycloneDX', gitHub(cyclonePredicate, 'cyclonedx-json'), cyclonePredicate],
    ['syft attest, SPDX', syftAttest('spdx-json'), spdxPredicate],
    ['syft attest, CycloneDX', syftAttest('cyclonedx-json'), cyclonePredicate],
    ['syft attest, its own format', syftAttest('syft-json'), 'application/vnd.syft+json'],
    ['syft attest, for GitHub', syftAttest('github-json'), 'application/vnd.github.dependency-snapshot+json'],
  ])('finds that of %s, and at the destination again', async (_, way, type) => {
    const image = await seed();
    await refused(image.repository);
    await way(image);
    const { digest, sboms } = await copy(image.repository);
    expect(digest).toBe(image.digest);
    expect(sboms).toEqual([{ subject: digest, type, digest: expect.stringMatching(/^sha256:/) }]);
    expect((await copy(image.repository, destination, 'onward:1')).sboms).toEqual(sboms);
  });

  it.each<[string, Way]>([
    ['an attestation of something else', attest('vuln', 'syft-json', tagged)],
    ['a bundle with something else', attest('https://example.com/v1', 'syft-json')],
    ['a referrer that is no SBOM', attach('application/json', 'syft-json')],
    ['a bundle about another image', gitHub(spdxPredicate, 'spdx-json', `sha256:${'ab'.repeat(32)}`)],
  ])('is not content with %s', async (_, way) => {
    const image = await seed();
    await way(image);
    await refused(image.repository);
  });

  describe('in an index of BuildKit', () => {
    /** As `docker buildx build --sbom=true` writes it; an export without a name has no subject in the statement. */
    async function push(
      repository: string,
      subject: 'named' | 'unnamed' | 'other',
      predicateType = spdxPredicate,
    ) {
      const image = await seed();
      const { size } = described.parse(
        JSON.parse(await oras('manifest', 'fetch', '--descriptor', at(image))),
      );
      await regctl('image', 'copy', at(image), `${source.host}/${repository}:image`);
      const subjects = { named: [image.digest], unnamed: [], other: [`sha256:${'ab'.repeat(32)}`] };
      const statement = await statementOf(predicateType, 'spdx-json', ...subjects[subject]);
      await writeFile(inFolder('statement'), JSON.stringify(statement));
      await writeFile(inFolder('config'), '{"architecture":"unknown","os":"unknown","config":{}}');
      const notes = { [inFolder('statement')]: { 'in-toto.io/predicate-type': predicateType } };
      await writeFile(inFolder('notes'), JSON.stringify(notes));
      const reference = `${source.host}/${repository}:attested`;
      await oras(
        ...['push', anyPath, '--config', `${inFolder('config')}:application/vnd.oci.image.config.v1+json`],
        ...['--annotation-file', inFolder('notes'), reference, `${inFolder('statement')}:${inToto}`],
      );
      const attested = described.parse(
        JSON.parse(await oras('manifest', 'fetch', '--descriptor', reference)),
      );
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      const index = {
        schemaVersion: 2,
        mediaType: ociIndex,
        manifests: [
          { mediaType, digest: image.digest, size, platform: { architecture: 'amd64', os: 'linux' } },
          {
            mediaType,
            digest: attested.digest,
            size: attested.size,
            annotations: {
              'vnd.docker.reference.digest': image.digest,
              'vnd.docker.reference.type': 'attestation-manifest',
            },
            platform: { architecture: 'unknown', os: 'unknown' },
          },
        ],
      };
      await writeFile(inFolder('index'), JSON.stringify(index));
      await oras(
        'manifest',
        'push',
        '--media-type',
        ociIndex,
        `${source.host}/${repository}:1`,
        inFolder('index'),
      );
      return image;
    }

    it.each(['named', 'unnamed'] as const)('finds the SBOM of each image: %s', async (subject) => {
      const { digest } = await push(`buildkit/${subject}`, subject);
      const { sboms } = await copy(`buildkit/${subject}`);
      expect(sboms).toMatchObject([{ subject: digest, type: spdxPredicate }]);
    });

    it('is not content with provenance, nor with an SBOM of another image', async () => {
      await push('buildkit/provenance', 'named', 'https://slsa.dev/provenance/v1');
      await refused('buildkit/provenance');
      await push('buildkit/other', 'other');
      await refused('buildkit/other');
    });
  });
});
