import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { digestOf } from '#shared/transfer';
import { attach } from '../../shared/transfer/testing/signing.ts';
import { Sigstore } from '../../shared/transfer/testing/sigstore.ts';
import { scan } from '../../test/fixtures/scanner/stand-in.ts';
import { type QuarantinePod, quarantinePod } from './testing/quarantine-pod.ts';

const name = 'team/app';
const policy = JSON.stringify({ vulnerabilities: { max: { critical: 0 } } });
let pod: QuarantinePod;
let folder = '';
let source: Registry;
let destination: Registry;
let digest = '';

beforeEach(async () => {
  pod = await quarantinePod();
  ({ folder } = pod);
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest } = await seedImage(source, name, '1.0', { layerBytes: 100 }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await pod.remove();
});

async function order(spec: object = {}, rules = policy): Promise<void> {
  await pod.order({
    artifact: { type: 'oci-quarantine', spec: { image: `${name}:1.0`, ...spec } },
    source: { name: 'src', type: 'oci', remoteURL: source.url },
    destination: { name: 'dst', type: 'oci', remoteURL: destination.url },
    policy: rules,
    attest: true,
  });
}

const step: QuarantinePod['step'] = (...args) => pod.step(...args);
const scanAll = () => scan(pod.images, pod.reports);
const writes = () => destination.count('POST') + destination.count('PUT') + destination.count('PATCH');
const landed = () => destination.contents.get(name)?.tags.get('1.0');

describe('an image that goes through quarantine', () => {
  it('is scanned per platform, and arrives with its digest, its referrers and its reports', async () => {
    await order();
    const fetched = await step('quarantine');
    expect(fetched).toMatchObject({ exitCode: 0, outcome: { digest, referrers: 1 } });
    expect(writes()).toBe(0);
    await scanAll();
    expect(await readdir(pod.reports)).toEqual(['0.json', '1.json']);
    expect(await step('promote')).toMatchObject({
      exitCode: 0,
      // A statement of the transfer, and a report of each platform.
      outcome: { outcome: 'succeeded', digest, referrers: 1 + 3 },
    });
    expect(landed()).toBe(digest);
    const result = await readFile(path.join(folder, 'work', 'result.json'), 'utf8');
    expect(JSON.parse(result)).toMatchObject({ digest });
  });

  it('stays there if the scanner finds too many vulnerabilities', async () => {
    const layer = Buffer.from('a vulnerable layer');
    const blob = (bytes: Buffer, mediaType: string) => {
      source.contents.get(name)?.blobs.set(digestOf(bytes), bytes);
      return { mediaType, digest: digestOf(bytes), size: bytes.length };
    };
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const config = blob(Buffer.from('{"os":"linux"}'), 'application/vnd.oci.image.config.v1+json');
    const layers = [blob(layer, 'application/vnd.oci.image.layer.v1.tar')];
    await fetch(`${source.url}/v2/${name}/manifests/bad`, {
      method: 'PUT',
      headers: { 'content-type': mediaType },
      body: JSON.stringify({ schemaVersion: 2, mediaType, config, layers }),
    });
    await order({ image: `${name}:bad` });
    await step('quarantine');
    await scanAll();
    expect(await step('promote')).toMatchObject({
      exitCode: 15,
      outcome: {
        reason: 'denied-by-policy',
        message: expect.stringMatching(/rule vulnerabilities\.max: .* CVE-0000-0001 \(trivy\)/),
      },
    });
    expect(writes()).toBe(0);
  });

  it('stays there if nobody scanned it', async () => {
    await order();
    await step('quarantine');
    const { outcome } = await step('promote');
    expect(outcome.message).toMatch(/rule vulnerabilities\.notScanned/);
    expect(writes()).toBe(0);
  });

  it('arrives as it was scanned, whatever the source has by then', async () => {
    await order();
    await step('quarantine');
    await scanAll();
    await seedImage(source, name, '1.0', { layerBytes: 200 });
    await step('promote');
    expect(landed()).toBe(digest);
  });

  it('is evaluated under its name at the source', async () => {
    const rules = { repositories: { allowed: [`${source.host}/team/*`] }, ...JSON.parse(policy) };
    await order({}, JSON.stringify(rules));
    await step('quarantine');
    await scanAll();
    expect(await step('promote')).toMatchObject({ exitCode: 0 });
  });

  it('is not fetched if a rule that needs no scanner denies it', async () => {
    await order({}, JSON.stringify({ maxBytes: 5, ...JSON.parse(policy) }));
    expect(await step('quarantine')).toMatchObject({ exitCode: 0, outcome: { outcome: 'failed' } });
    expect(await readdir(pod.quarantine)).toEqual([]);
    expect(await step('promote')).toMatchObject({
      exitCode: 15,
      outcome: { reason: 'denied-by-policy', message: expect.stringContaining('rule maxBytes') },
    });
  });

  it.each<[string, () => Promise<unknown>, object]>([
    [
      'cannot be fetched',
      async () => {
        await order({ image: `${name}:none` });
        await step('quarantine');
      },
      { exitCode: 11, outcome: { reason: 'permanent', message: expect.stringContaining('does not exist') } },
    ],
    [
      'was not fetched to its end',
      () => order(),
      { exitCode: 10, outcome: { message: expect.stringContaining('left no result') } },
    ],
    [
      'is several',
      async () => {
        await order({ image: name, tags: { match: '*' } });
        await step('quarantine');
      },
      { exitCode: 14, outcome: { message: expect.stringContaining('without spec.tags') } },
    ],
  ])('fails in the last step, with the reason of the first, if it %s', async (_, prepare, expected) => {
    await prepare();
    expect(await step('promote')).toMatchObject(expected);
    expect(landed()).toBeUndefined();
  });

  it.each(['sig', 'referrer'] as const)('is judged twice by a signature without a key: %s', async (where) => {
    const sigstore = new Sigstore();
    const signer = {
      identity: 'https://github.com/acme/*',
      issuer: 'https://token.actions.githubusercontent.com',
    };
    const trustedRoot = digestOf(Buffer.from(sigstore.trustedRoot()));
    await order({}, JSON.stringify({ requiredSigners: { allOf: [signer], trustedRoot } }));
    const layer = where === 'sig' ? sigstore.payloadLayer(digest) : sigstore.bundleLayer(digest);
    await attach(source, name, digest, where, [layer]);
    const trust = { ARC_TRUST_DIR: folder };
    const without = await step('quarantine', trust);
    expect(without.outcome).toMatchObject({
      reason: 'config',
      message: expect.stringMatching(/ENOENT.*Secret "arc-trusted-root"/),
    });
    await writeFile(path.join(folder, 'trusted_root.json'), sigstore.trustedRoot());
    expect(await step('quarantine', trust)).toMatchObject({ exitCode: 0, outcome: { digest } });
    expect(await step('promote', trust)).toMatchObject({ exitCode: 0, outcome: { digest } });
    expect(landed()).toBe(digest);
  });
});
