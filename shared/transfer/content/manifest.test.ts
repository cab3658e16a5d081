import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { digestOf } from '../reference/digest.ts';
import { ociIndex, parseManifest } from './manifest.ts';

const digest = digestOf(Buffer.from('x'));
const blob = { mediaType: 'application/octet-stream', digest, size: 1 };
const parse = (body: unknown, contentType?: string) =>
  parseManifest(Buffer.from(JSON.stringify(body)), 'm', contentType);

describe('a manifest', () => {
  it('keeps its bytes and lists its blobs', () => {
    const image = parse({ schemaVersion: 2, config: blob, layers: [{ ...blob, size: 5 }], subject: blob });
    expect(image.blobs.map(({ size }) => size)).toEqual([1, 5]);
    expect(image.subject).toBe(digest);
    expect(image.digest).toBe(digestOf(image.bytes));
    expect(parse({ schemaVersion: 2, manifests: [blob] })).toMatchObject({
      mediaType: ociIndex,
      children: [blob],
      blobs: [],
    });
  });

  it('does not copy layers that may not be distributed', () => {
    const foreign = {
      ...blob,
      mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
      urls: ['https://x'],
    };
    expect(parse({ schemaVersion: 2, config: blob, layers: [foreign] })).toMatchObject({
      blobs: [blob],
      foreign: [foreign],
    });
  });

  it('is listed with its own artifact type, else the type of its config', () => {
    expect(parse({ schemaVersion: 2, config: blob, artifactType: 'a/b' }).descriptor.artifactType).toBe(
      'a/b',
    );
    expect(parse({ schemaVersion: 2, config: blob }).descriptor.artifactType).toBe(blob.mediaType);
  });

  it.each([
    [{ schemaVersion: 1, fsLayers: [] }, 'schema 1'],
    [{ schemaVersion: 2 }, 'no config'],
    [{ schemaVersion: 2, config: { ...blob, size: -1 } }, 'no valid size'],
    [{ schemaVersion: 2, config: { ...blob, digest: '../../x' } }, 'no valid digest'],
    [{ schemaVersion: 2, mediaType: 'text/html', config: blob }, 'is not supported'],
    [[], 'is not a JSON object'],
    // CVE-2021-41190
    [
      { schemaVersion: 2, config: blob, layers: [blob], manifests: [blob] },
      'the manifests of an index and the layers of an image',
    ],
    [{ schemaVersion: 2, mediaType: ociIndex, layers: [], manifests: [blob] }, 'and the layers of an image'],
    [{ schemaVersion: 2, mediaType: ociIndex, config: blob, manifests: [] }, 'and the config of an image'],
    [{ schemaVersion: 2, config: blob, layers: [], Manifests: [blob] }, 'of an index and the layers'],
  ])('%j is rejected: %s', (body, why) => {
    expect(() => parse(body)).toThrow(why);
  });

  it('of any content is parsed or rejected as permanent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          parseManifest(Buffer.from(text), 'm');
        } catch (caught) {
          expect(caught).toMatchObject({ reason: 'permanent' });
        }
      }),
    );
  });
});
