import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, repositoryOf, seedImage, startRegistry } from '../../local/registry/index.ts';
import { digestTag } from '../reference/digest.ts';
import { copyImage } from '../testing/copy-image.ts';
import { grypeReport, trivyReport } from '../testing/reports.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import type { AttestOptions } from './attest.ts';
import { transferPredicate } from './statement.ts';

const name = 'team/app';
const scanPredicate = 'https://cosign.sigstore.dev/attestation/vuln/v1';
let source: Registry;
let destination: Registry;
let workDir = '';
let digest = '';
let children: string[] = [];

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-attest-'));
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest, children } = await seedImage(source, name, '1.0', { layerBytes: 100, signature: false }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

const at = ({ url }: Registry) => ({ name: 'end', remoteURL: url, image: `${name}:1.0` });

function copy(attest: AttestOptions, more: object = {}, from = source, to = destination) {
  const signal = new AbortController().signal;
  const options = { attest, workDir, retry: { attempts: 1 }, signal, ...more };
  return copyImage({ ...options, source: at(from), destination: at(to) });
}

interface Attached {
  artifactType: string;
  annotations: Record<string, string>;
  content: Buffer;
}

/** What a client finds by the referrers API, or under the fallback tag. */
async function attachedTo(subject: string, registry = destination): Promise<Attached[]> {
  const stored = repositoryOf(registry.contents, name);
  const byApi = await fetch(`${registry.url}/v2/${name}/referrers/${subject}`);
  const list = byApi.ok
    ? await byApi.json()
    : JSON.parse(
        stored.manifests.get(stored.tags.get(digestTag(subject)) ?? '')?.bytes.toString() ??
          '{"manifests":[]}',
      );
  return list.manifests.map((entry: { digest: string }) => {
    const manifest = JSON.parse(stored.manifests.get(entry.digest)?.bytes.toString() ?? '');
    return { ...manifest, content: stored.blobs.get(manifest.layers[0].digest) };
  });
}

/** By the protocol of DSSE alone: PAE(type, body) = "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body. */
function opened(content: Buffer, key: KeyObject) {
  const { dsseEnvelope, mediaType } = JSON.parse(content.toString());
  expect(mediaType).toBe('application/vnd.dev.sigstore.bundle.v0.3+json');
  const body = Buffer.from(dsseEnvelope.payload, 'base64');
  const type = dsseEnvelope.payloadType;
  const signed = Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} ${body.toString()}`);
  const signature = Buffer.from(dsseEnvelope.signatures[0].sig, 'base64');
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  expect(verify(hash, signed, key, signature)).toBe(true);
  return JSON.parse(body.toString());
}

async function scanned(...reports: object[]): Promise<string> {
  const folder = path.join(workDir, 'reports');
  await mkdir(folder, { recursive: true });
  for (const [index, report] of reports.entries())
    await writeFile(path.join(folder, `${index}.json`), JSON.stringify(report));
  return folder;
}

describe('an attested transfer', () => {
  it.each([
    ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ])('attaches a signed statement to the artifact: %s', async (_, { privateKey, publicKey }) => {
    const policy = '{"maxBytes":1000000}';
    expect((await copy({ key: privateKey, policy })).digest).toBe(digest);
    const [one, ...others] = await attachedTo(digest);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      annotations: { 'dev.sigstore.bundle.predicateType': transferPredicate },
    });
    const hex = digest.slice('sha256:'.length);
    expect(opened(one?.content ?? Buffer.alloc(0), publicKey)).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: `${destination.host}/${name}`, digest: { sha256: hex } }],
      predicateType: transferPredicate,
      predicate: {
        transferredOn: expect.stringMatching(/^\d{4}-/),
        source: { uri: `oci://${source.host}/${name}`, digest: { sha256: hex } },
        destination: { uri: `oci://${destination.host}/${name}` },
        policy,
      },
    });
  });

  it('is attested without a key too, unsigned', async () => {
    await copy({});
    const [one] = await attachedTo(digest);
    expect(one?.artifactType).toBe('application/vnd.in-toto+json');
    expect(JSON.parse(one?.content.toString() ?? '')).toMatchObject({ predicateType: transferPredicate });
  });

  it('is attested once, before the tag is written', async () => {
    await copy({});
    const puts = destination.requests.filter((each) => each.method === 'PUT' && /manifests/.test(each.path));
    expect(puts.at(-1)?.path).toMatch(/manifests\/1\.0$/);
    await copy({});
    expect(await attachedTo(digest)).toHaveLength(1);
  });

  it('is not lost in a registry without the referrers API', async () => {
    await destination.close();
    destination = await startRegistry({ referrersApi: false });
    await copy({});
    expect(await attachedTo(digest)).toHaveLength(1);
  });

  it('is not tagged if the statement cannot be stored', async () => {
    destination.faults.add({ method: 'POST', fault: { kind: 'status', status: 403 } });
    await transferFailure(copy({}));
    expect(destination.contents.get(name)?.tags.get('1.0')).toBeUndefined();
  });
});

describe('reports of a scanner', () => {
  it('are attached to their images, in a form that the next policy reads', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const [first = '', second = ''] = children;
    const found = [{ id: 'CVE-2024-1', severity: 'High' }];
    const reports = [grypeReport({ manifestDigest: first }, found), grypeReport({ manifestDigest: second })];
    const reportsFolder = await scanned(...reports, trivyReport(`sha256:${'e'.repeat(64)}`));
    await copy({ key: privateKey }, { reportsFolder });
    expect(await attachedTo(digest)).toHaveLength(1);
    const [attached] = await attachedTo(first);
    expect(opened(attached?.content ?? Buffer.alloc(0), publicKey)).toMatchObject({
      subject: [{ digest: { sha256: first.slice(7) } }],
      predicateType: scanPredicate,
      predicate: { scanner: { uri: 'https://github.com/anchore/grype', result: reports[0] } },
    });

    const next = await startRegistry();
    const signers = [publicKey.export({ type: 'spki', format: 'pem' }).toString()];
    const hop = (high: number) => {
      const policy = { vulnerabilities: { max: { high }, signers } };
      return copyImage({
        policy,
        workDir,
        signal: new AbortController().signal,
        source: at(destination),
        destination: at(next),
      });
    };
    try {
      expect((await transferFailure(hop(0))).message).toContain('CVE-2024-1 (grype)');
      expect((await hop(1)).digest).toBe(digest);
      // What is attached travels along.
      expect(await attachedTo(first, next)).toHaveLength(1);
    } finally {
      await next.close();
    }
  });
});
