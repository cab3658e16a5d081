import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { defaultRetry } from '../http/retry.ts';
import { digestOf } from '../reference/digest.ts';
import type { ContentSource } from './content.ts';
import { ociIndex, parseManifest } from './manifest.ts';
import { parsePlatforms, platformSubset } from './platform-subset.ts';

const imageType = 'application/vnd.oci.image.manifest.v1+json';
const signal = new AbortController().signal;
const amd64 = child('linux/amd64');
const arm64 = child('linux/arm64');
const armv7 = child('linux/arm/v7');
const attestation = {
  ...child('unknown/unknown'),
  annotations: { 'vnd.docker.reference.digest': amd64.digest },
};

function child(platform: string) {
  const [os, architecture, variant] = platform.split('/');
  const digest = digestOf(Buffer.from(platform));
  return {
    mediaType: imageType,
    digest,
    size: 1,
    platform: { os, architecture, ...(variant && { variant }) },
  };
}

function sourceOf(body: object, config: Buffer = Buffer.from('{}'), referrers = 0): ContentSource {
  const root = parseManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, ...body })), 'test');
  return {
    place: 'the source',
    root: async () => root,
    manifest: async () => undefined,
    openBlob: async () => ({ start: 0, size: config.length, stream: Readable.from([config]) }),
    findReferrers: async (subject) =>
      Array.from({ length: subject === root ? referrers : 0 }, () => ({ manifest: root })),
  };
}

const indexOf = (...manifests: object[]) => ({ mediaType: ociIndex, annotations: { a: 'b' }, manifests });
const rootOf = (source: ContentSource, ...platforms: string[]) =>
  platformSubset(source, platforms, defaultRetry).root(signal);

describe('a subset of platforms', () => {
  it.each([
    [['linux/amd64'], [amd64, attestation]],
    [['linux/arm64/v8'], [arm64]],
    [['linux/arm'], [armv7]],
    [
      ['linux/arm/v7', 'linux/amd64'],
      [amd64, armv7, attestation],
    ],
  ])('%j keeps the images, their attestations and the rest of the index', async (platforms, kept) => {
    const source = sourceOf(indexOf(amd64, arm64, armv7, attestation));
    const root = await rootOf(source, ...platforms);
    expect(JSON.parse(root.bytes.toString())).toEqual({ schemaVersion: 2, ...indexOf(...kept) });
    expect(root.digest).toBe(digestOf(root.bytes));
    expect(root.children.map(({ digest }) => digest)).toEqual(kept.map(({ digest }) => digest));
  });

  it('of all platforms is the unchanged index', async () => {
    const source = sourceOf(indexOf(amd64, arm64));
    expect(await rootOf(source, 'linux/arm64', 'linux/amd64')).toBe(await source.root(signal));
  });

  it('must exist', async () => {
    await expect(rootOf(sourceOf(indexOf(amd64, armv7)), 'linux/amd64', 'linux/s390x')).rejects.toThrow(
      'has no platform linux/s390x (it has: linux/amd64, linux/arm/v7)',
    );
  });

  it('warns about the referrers of the whole index that are not copied', async () => {
    const subset = platformSubset(
      sourceOf(indexOf(amd64, arm64), undefined, 2),
      ['linux/amd64'],
      defaultRetry,
    );
    const warnings: string[] = [];
    const root = await subset.root(signal);
    expect(await subset.findReferrers(root, (text) => warnings.push(text), signal)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^2 referrers .* are not copied/)]);
  });

  it('of an image that is no index is the image, if it matches', async () => {
    const config = Buffer.from(JSON.stringify({ os: 'linux', architecture: 'amd64' }));
    const blob = { mediaType: 'application/json', digest: digestOf(config), size: config.length };
    const source = sourceOf({ mediaType: imageType, config: blob, layers: [] }, config);
    expect(await rootOf(source, 'linux/amd64')).toBe(await source.root(signal));
    await expect(rootOf(source, 'linux/arm64')).rejects.toThrow('it has: linux/amd64');
  });
});

describe('spec.platforms', () => {
  it.each([[undefined], ['linux/amd64'], [[]], [['amd64']], [['linux/amd64', 5]], [['linux/amd64/v1/x']]])(
    'cannot be %j',
    (given) => expect(() => parsePlatforms(given)).toThrow('spec.platforms must be a list'),
  );
});
