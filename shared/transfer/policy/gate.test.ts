import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, repositoryOf, seedImage, startRegistry } from '../../local/registry/index.ts';
import { compareArtifact } from '../artifact/compare-artifact.ts';
import { ociIndex, ociManifest, parseManifest } from '../content/manifest.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import { digestOf } from '../reference/digest.ts';
import { copyImage } from '../testing/copy-image.ts';
import { grypeReport, trivyReport } from '../testing/reports.ts';
import {
  attach,
  bundleOf,
  bundleType,
  payloadLayer,
  payloadOf,
  signed,
  type Where,
} from '../testing/signing.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { applyPolicy } from './gate.ts';
import type { Policy } from './policy.ts';
import { vulnerabilityPredicate } from './scan-report.ts';

const name = 'team/app';
const day = 24 * 3_600_000;
const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const yours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (pair = mine) => pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const bySigner: Policy = { requiredSigners: { anyOf: [pem()] } };

let source: Registry;
let destination: Registry;
let workDir = '';
let digest = '';
let children: string[] = [];

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-gate-'));
  source = await startRegistry();
  destination = await startRegistry();
  // Its own signature is by a key that nobody here knows.
  ({ digest, children } = await seedImage(source, name, '1.0', { layerBytes: 100 }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

function options(policy: Policy) {
  return { policy, workDir, retry: { attempts: 1 }, signal: new AbortController().signal };
}

const at = ({ url }: Registry, tag = '1.0') => ({ name: 'end', remoteURL: url, image: `${name}:${tag}` });

function copy(policy: Policy, tag = '1.0') {
  return copyImage({ ...options(policy), source: at(source, tag), destination: at(destination, tag) });
}

async function denial(policy: Policy, tag?: string): Promise<string> {
  const failure = await transferFailure(copy(policy, tag));
  expect(failure).toMatchObject({ reason: 'denied-by-policy', again: false, code: 'Forbidden' });
  expect(destination.count('POST') + destination.count('PUT') + destination.count('PATCH')).toBe(0);
  return failure.message;
}

async function sign(where: Where, of = digest, by = mine, subject = of): Promise<void> {
  const payload = payloadOf(of);
  await attach(source, name, subject, where, [payloadLayer(payload, signed(payload, by.privateKey))]);
}

describe('a policy before a copy', () => {
  it.each<[Where]>([['sig'], ['referrer']])('allows a signed image: %s', async (where) => {
    await sign(where);
    expect((await copy(bySigner)).digest).toBe(digest);
    expect(destination.contents.get(name)?.tags.get('1.0')).toBe(digest);
  });

  it('allows an image with a bundle', async () => {
    const content = bundleOf(digest, mine.privateKey);
    await attach(source, name, digest, 'referrer', [{ mediaType: bundleType, content }]);
    expect((await copy(bySigner)).digest).toBe(digest);
  });

  it('finds the signature among others', async () => {
    const layers = [yours, mine].map((by) => {
      const payload = Buffer.concat([payloadOf(digest), Buffer.from(by === mine ? ' ' : '')]);
      return payloadLayer(payload, signed(payload, by.privateKey));
    });
    await attach(source, name, digest, 'sig', layers);
    expect((await copy(bySigner)).digest).toBe(digest);
  });

  it('writes nothing of an unsigned image, and names the rule, the digest and the place', async () => {
    const message = await denial(bySigner);
    expect(message).toMatch(
      /^Denied by policy, rule requiredSigners: none of the signers of anyOf has signed/,
    );
    expect(message).toContain(`(${digest} of repository ${name}`);
    expect(message).toContain('1 by another signer or tampered with');
  });

  it.each<[string, () => Promise<void>]>([
    ['another key', () => sign('sig', digest, yours)],
    ['a signature of a platform, at the platform', () => sign('sig', children[0])],
    ['a signature of a platform, at the index', () => sign('sig', children[0], mine, digest)],
    ['a signature of another digest', () => sign('referrer', digestOf(Buffer.from('x')), mine, digest)],
    [
      'a tampered payload',
      () => {
        const signature = signed(payloadOf(digest), mine.privateKey);
        return attach(source, name, digest, 'sig', [
          payloadLayer(Buffer.from(`${payloadOf(digest)} `), signature),
        ]);
      },
    ],
    [
      'a payload of another media type',
      () => {
        const layer = payloadLayer(payloadOf(digest), signed(payloadOf(digest), mine.privateKey));
        return attach(source, name, digest, 'sig', [{ ...layer, mediaType: 'application/json' }]);
      },
    ],
    [
      'a payload that is too large',
      () => {
        const payload = Buffer.concat([payloadOf(digest), Buffer.alloc(256 * 1024, ' ')]);
        return attach(source, name, digest, 'sig', [payloadLayer(payload, signed(payload, mine.privateKey))]);
      },
    ],
  ])('denies with %s', async (_, prepare) => {
    await prepare();
    expect(await denial(bySigner)).toContain('rule requiredSigners');
  });

  it('denies a comparison too', async () => {
    const comparing = compareArtifact(options(bySigner), async ({ session }) => ({
      source: registrySource(session.repository(at(source), 'pull')),
      destination: registrySink(session.repository(at(destination), 'pull,push')),
    }));
    expect((await transferFailure(comparing)).reason).toBe('denied-by-policy');
  });

  it('denies an artifact that exists at the destination', async () => {
    await copy({});
    expect((await transferFailure(copy({ maxBytes: 1 }))).reason).toBe('denied-by-policy');
  });

  it('identifies a repository by host, port and path', async () => {
    expect((await copy({ repositories: { allowed: [`${source.host}/team/*`] } })).digest).toBe(digest);
    const message = await transferFailure(copy({ repositories: { denied: ['*/team/*'] } }));
    expect(message.message).toContain(`${source.host}/${name} matches "*/team/*"`);
  });

  it.each([
    ['https://registry-1.docker.io', 'docker.io/library/alpine'],
    ['https://REGISTRY.example.com:443', 'registry.example.com/library/alpine'],
    ['http://registry.example.com.:5000', 'registry.example.com:5000/library/alpine'],
  ])('names %s as users do', async (origin, known) => {
    const registry = { origin, repository: 'library/alpine' };
    const config = { mediaType: 'application/json', digest: digestOf(Buffer.from('{}')), size: 2 };
    const bytes = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: ociManifest, config, layers: [] }),
    );
    const root = parseManifest(bytes, 'alpine');
    const nothing = () => Promise.reject(new Error('not asked for'));
    const candidate = {
      plan: { root, manifests: [root], blobs: root.blobs, referrers: [], tagged: [], warnings: [] },
      source: {
        place: 'alpine',
        registry,
        root: nothing,
        manifest: nothing,
        openBlob: nothing,
        findReferrers: nothing,
      },
      retry: { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 },
      signal: new AbortController().signal,
    };
    await applyPolicy({ repositories: { allowed: [known] } }, candidate);
    const denied = applyPolicy({ repositories: { denied: [known] } }, candidate);
    expect((await transferFailure(denied)).message).toContain(`${known} matches`);
  });

  it('uses the media types of the artifact, not of its signatures', async () => {
    const types = ['application/vnd.oci.image.*'];
    expect((await copy({ mediaTypes: types })).referrers).toBe(1);
    const layers = { mediaTypes: ['*.index.v1+json', '*.manifest.v1+json', '*.config.v1+json'] };
    expect((await transferFailure(copy(layers))).message).toContain('layer.v1.tar');
  });

  it.each<[string, Where, string, boolean]>([
    ['cosign’s tag', 'sbom', 'text/spdx+json', true],
    ['a referrer', 'referrer', 'application/vnd.cyclonedx+json', true],
    ['a referrer that is no SBOM', 'referrer', 'application/json', false],
  ])('looks for an SBOM: %s', async (_, where, mediaType, isThere) => {
    await attach(source, name, digest, where, [{ mediaType, content: Buffer.from('{"sbom":1}') }]);
    if (isThere) expect((await copy({ requiredSbom: true })).digest).toBe(digest);
    else expect(await denial({ requiredSbom: true })).toContain('rule requiredSbom: no SBOM refers to it');
  });

  it('accepts an SBOM of every platform for the whole', async () => {
    const sbom = { mediaType: 'application/spdx+json', content: Buffer.from('{}') };
    await attach(source, name, children[0] ?? '', 'referrer', [sbom]);
    expect(await denial({ requiredSbom: true })).toContain(`nor to its image ${children[1]}`);
    await attach(source, name, children[1] ?? '', 'sbom', [sbom]);
    expect((await copy({ requiredSbom: true })).digest).toBe(digest);
  });

  describe('with reports of a scanner', () => {
    const rule: Policy = { vulnerabilities: { max: { critical: 0 } } };
    const clean = { id: 'CVE-2024-1', severity: 'HIGH' };
    const bad = { id: 'CVE-2024-2', severity: 'CRITICAL' };

    function configs(): string[] {
      const { manifests } = repositoryOf(source.contents, name);
      return children.map((child) => {
        const { config } = JSON.parse(manifests.get(child)?.bytes.toString() ?? '{}');
        return config.digest;
      });
    }

    async function scanned(...reports: object[]): Promise<string> {
      const folder = path.join(workDir, 'reports');
      await mkdir(folder, { recursive: true });
      for (const [at, report] of reports.entries())
        await writeFile(path.join(folder, `${at}.json`), JSON.stringify(report));
      return folder;
    }

    const judged = (policy: Policy, reportsFolder: string) =>
      copyImage({ ...options(policy), reportsFolder, source: at(source), destination: at(destination) });

    it('allows an image whose platforms are all scanned and within the limits', async () => {
      const folder = await scanned(...configs().map((config) => trivyReport(config, [clean])));
      expect((await judged(rule, folder)).digest).toBe(digest);
    });

    it('denies without a report, with a report of one platform, and with a report of something else', async () => {
      expect(await denial(rule)).toMatch(/rule vulnerabilities\.notScanned: image sha256:\S+ is not scanned/);
      const folder = await scanned(trivyReport(configs()[0] ?? ''), trivyReport(digest));
      const { message } = await transferFailure(judged(rule, folder));
      expect(message).toContain(`image ${children[1]} is not scanned`);
    });

    it('denies an image with too many findings', async () => {
      const reports = children.map((manifestDigest) => grypeReport({ manifestDigest }, [clean, bad]));
      const { message } = await transferFailure(judged(rule, await scanned(...reports)));
      expect(message).toMatch(/^Denied by policy, rule vulnerabilities\.max: .* CVE-2024-2 \(grype\)/);
      const ignoring = { vulnerabilities: { ...rule.vulnerabilities, ignored: ['CVE-2024-2'] } };
      expect((await judged(ignoring, path.join(workDir, 'reports'))).digest).toBe(digest);
    });

    it("accepts the scanner's SBOMs of each platform", async () => {
      const sboms = configs().map((value) => ({
        bomFormat: 'CycloneDX',
        metadata: { component: { properties: [{ name: 'aquasecurity:trivy:ImageID', value }] } },
        components: [{ type: 'library', name: 'musl' }],
      }));
      const [first] = sboms;
      await transferFailure(judged({ requiredSbom: true }, await scanned(first ?? {})));
      expect((await judged({ requiredSbom: true }, await scanned(...sboms))).digest).toBe(digest);
    });

    it('accepts an attached report signed by an accepted key, for the subjects of its statement', async () => {
      const attachReport = async (subject: string, by: typeof mine, of = subject) => {
        const predicate = { scanner: { uri: 'pkg:trivy', result: trivyReport('', [clean]) } };
        const content = bundleOf(of, by.privateKey, vulnerabilityPredicate, predicate);
        await attach(source, name, subject, 'referrer', [{ mediaType: bundleType, content }]);
      };
      const trusting = { vulnerabilities: { ...rule.vulnerabilities, signers: [pem()] } };
      const [first = '', second = ''] = children;
      await attachReport(first, mine);
      await attachReport(second, yours);
      await attachReport(second, mine, first);
      expect(await denial(trusting)).toContain(`image ${second} is not scanned`);
      await attachReport(second, mine);
      expect(await denial(rule)).toContain('is not scanned');
      expect((await copy(trusting)).digest).toBe(digest);
    });
  });

  describe('with an age', () => {
    const ago = (days: number) => new Date(Date.now() - days * day).toISOString();

    interface Seed {
      created?: string;
      noted?: string;
      /** Its index calls it an attestation. */
      attests?: boolean;
      layer?: string;
    }

    async function push(tag: string, images: Seed[]) {
      const stored = repositoryOf(source.contents, name);
      const put = async (reference: string, body: { mediaType: string }) => {
        const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, ...body }));
        const headers = { 'content-type': body.mediaType };
        const url = `${source.url}/v2/${name}/manifests/${reference || digestOf(bytes)}`;
        expect((await fetch(url, { method: 'PUT', headers, body: bytes })).ok).toBe(true);
        return { mediaType: body.mediaType, digest: digestOf(bytes), size: bytes.length };
      };
      const manifests = [];
      for (const { created, noted, attests, layer } of images) {
        const config = Buffer.from(JSON.stringify({ created }));
        stored.blobs.set(digestOf(config), config);
        const descriptor = {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          digest: digestOf(config),
          size: config.length,
        };
        const annotations = noted === undefined ? {} : { 'org.opencontainers.image.created': noted };
        const image = await put('', {
          mediaType: ociManifest,
          config: descriptor,
          // Whatever it is: its type counts.
          layers: layer === undefined ? [] : [{ ...descriptor, mediaType: layer }],
          annotations,
        } as {
          mediaType: string;
        });
        const note = { 'vnd.docker.reference.type': 'attestation-manifest' };
        manifests.push({ ...image, ...(attests && { annotations: note }) });
      }
      await put(tag, { mediaType: ociIndex, manifests } as { mediaType: string });
    }

    it('looks at every image, and not at attestations of BuildKit', async () => {
      const layer = 'application/vnd.in-toto+json';
      await push('young', [{ created: ago(1) }, { created: ago(2) }, { attests: true, layer }]);
      expect((await copy({ maxAgeMs: 3 * day }, 'young')).warnings).toEqual([]);
    });

    it('looks at an image that its index calls an attestation', async () => {
      const layer = 'application/vnd.oci.image.layer.v1.tar+gzip';
      await push('hidden', [{ created: ago(1) }, { created: ago(4), attests: true, layer }]);
      expect(await denial({ maxAgeMs: 3 * day }, 'hidden')).toMatch(/was created at .* 72h ago/);
      const twice = { created: ago(5), layer: 'application/vnd.in-toto+json' };
      await push('twice', [{ created: ago(1) }, { ...twice, attests: true }, { ...twice }]);
      expect(await denial({ maxAgeMs: 3 * day }, 'twice')).toMatch(/was created at .* 72h ago/);
    });

    it('denies if one image is too old', async () => {
      await push('old', [{ created: ago(1) }, { created: ago(4) }]);
      expect(await denial({ maxAgeMs: 3 * day }, 'old')).toMatch(
        /rule maxAge: image \S+ was created at .* 72h ago/,
      );
    });

    it('denies an image without a creation time, which its annotation may supply', async () => {
      await push('silent', [{ created: ago(1) }, {}]);
      expect(await denial({ maxAgeMs: 3 * day }, 'silent')).toContain('has no creation time');
      await push('noted', [{ noted: ago(1) }]);
      expect((await copy({ maxAgeMs: 3 * day }, 'noted')).warnings).toEqual([]);
    });
  });
});
