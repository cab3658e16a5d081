import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, repositoryOf, seedImage, startRegistry } from '../../local/registry/index.ts';
import { compareArtifact } from '../artifact/compare-artifact.ts';
import { copyArtifact } from '../artifact/copy-artifact.ts';
import { ociIndex, ociManifest } from '../content/manifest.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import { digestOf, digestTag } from '../reference/digest.ts';
import { copyImage } from '../testing/copy-image.ts';
import { type Attachment, attach, payloadLayer, payloadOf, signed } from '../testing/signing.ts';

let source: Registry;
let destination: Registry;
let image = '';
beforeEach(async () => {
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest: image } = await seedImage(source, 'team/app', '1.0', { signature: false }));
});
afterEach(() => Promise.all([source.close(), destination.close()]));

const options = {
  signal: new AbortController().signal,
  workDir: os.tmpdir(),
  retry: { attempts: 1, baseMs: 1, maxMs: 2 },
};
const from = () => ({ name: 'src', remoteURL: source.url, image: 'team/app:1.0' });
const to = () => ({ name: 'dst', remoteURL: destination.url, image: 'mirror/app:1.0' });
const copy = () => copyImage({ ...options, source: from(), destination: to() });

const keys = Array.from({ length: 3 }, () => generateKeyPairSync('ed25519').privateKey);
const signatureBy = (key: KeyObject | undefined, comment = ''): Attachment => {
  if (key === undefined) throw new Error('there is no such key');
  const payload = payloadOf(image, `cosign container image signature${comment}`);
  return payloadLayer(payload, signed(payload, key));
};
const report = (text: string): Attachment => ({ mediaType: 'text/spdx+json', content: Buffer.from(text) });

interface Body {
  config: { mediaType: string; digest: string; size: number };
  layers: { digest: string; annotations?: Record<string, string> }[];
}
/** What the destination has under a tag of the image. */
function under(kind: string): Body & { digest: string } {
  const { tags, manifests } = destination.contents.get('mirror/app') ?? {};
  const stored = manifests?.get(tags?.get(`${digestTag(image)}.${kind}`) ?? '');
  if (stored === undefined) throw new Error(`there is no ${kind}`);
  return { ...(JSON.parse(stored.bytes.toString()) as Body), digest: stored.digest };
}
const layersOf = (kind: string) => under(kind).layers.map(({ digest, annotations }) => [digest, annotations]);
const expected = (...layers: Attachment[]) =>
  layers.map(({ content, annotations = {} }) => [digestOf(content), annotations]);
const writes = () => destination.count('PUT') + destination.count('POST');

describe.each(['sig', 'att'] as const)('an attachment under .%s that the destination has as well', (kind) => {
  const place = kind as 'sig';

  it('keeps its layers and gains those of the source: no signature of either side is lost', async () => {
    const [made, added, later] = keys.map((key) => signatureBy(key));
    if (!made || !added || !later) throw new Error('three signatures are needed');
    await attach(source, 'team/app', image, place, [made]);
    await copy();
    await attach(destination, 'mirror/app', image, place, [made, added]);
    expect(await copy()).toMatchObject({ warnings: [] });
    expect(layersOf(kind)).toEqual(expected(made, added));
    await attach(source, 'team/app', image, place, [made, later]);
    expect(await copy()).toMatchObject({ warnings: [] });
    expect(layersOf(kind)).toEqual(expected(made, added, later));
    // All three sign the same payload.
    expect(new Set(under(kind).layers.map(({ digest }) => digest)).size).toBe(1);
  });

  it('keeps its layers if those of the source repeat, or have another type', async () => {
    const [made, added, later] = keys.map((key) => signatureBy(key));
    if (!made || !added || !later) throw new Error('three signatures are needed');
    await copy();
    await attach(destination, 'mirror/app', image, place, [made, added]);
    await attach(source, 'team/app', image, place, [added, added, later]);
    await copy();
    expect(layersOf(kind)).toEqual(expected(made, added, later));
    await attach(source, 'team/app', image, place, [{ ...made, mediaType: 'text/plain' }, added, later]);
    await copy();
    expect(layersOf(kind)).toEqual(expected(made, added, later, made));
  });

  it('is written once: a repeated copy writes nothing, and verify finds nothing missing', async () => {
    await attach(source, 'team/app', image, place, [signatureBy(keys[0])]);
    await attach(destination, 'mirror/app', image, place, [signatureBy(keys[1], ' of the destination')]);
    await copy();
    expect(under(kind).layers).toHaveLength(2);
    destination.requests.length = 0;
    expect(await copy()).toMatchObject({ blobs: { copied: 0 }, warnings: [] });
    expect(writes()).toBe(0);
    const compared = await compareArtifact(options, async ({ session }) => ({
      source: registrySource(session.repository(from(), 'pull')),
      destination: registrySink(session.repository(to(), 'pull')),
    }));
    expect(compared.missing).toEqual({ bytes: 0, blobs: 0, manifests: 0 });
  });

  it('has a config that lists its layers, as written by cosign', async () => {
    await attach(source, 'team/app', image, place, [signatureBy(keys[0])]);
    await attach(destination, 'mirror/app', image, place, [signatureBy(keys[1], ' of the destination')]);
    await copy();
    const { config, layers } = under(kind);
    const bytes = destination.contents.get('mirror/app')?.blobs.get(config.digest) ?? Buffer.alloc(0);
    expect(bytes.length).toBe(config.size);
    expect(JSON.parse(bytes.toString())).toMatchObject({
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    });
  });

  it('is replaced by that of the source if that includes all of it', async () => {
    const [one, two] = [signatureBy(keys[0]), signatureBy(keys[1])];
    await attach(destination, 'mirror/app', image, place, [one]);
    await attach(source, 'team/app', image, place, [one, two]);
    await copy();
    const tag = `${digestTag(image)}.${kind}`;
    expect(under(kind).digest).toBe(source.contents.get('team/app')?.tags.get(tag));
  });

  it('is merged again if another client writes the tag concurrently', async () => {
    const [made, here, meanwhile] = keys.map((key) => signatureBy(key));
    if (!made || !here || !meanwhile) throw new Error('three signatures are needed');
    await attach(source, 'team/app', image, place, [made]);
    await attach(destination, 'mirror/app', image, place, [here]);
    const tag = `${digestTag(image)}.${kind}`;
    let overwritten = false;
    await copyImageInto(async (reference) => {
      if (reference !== tag || overwritten) return;
      overwritten = true;
      await attach(destination, 'mirror/app', image, place, [here, meanwhile]);
    });
    expect(layersOf(kind)).toEqual(expected(here, meanwhile, made));
  });

  it('is left unchanged if it has no layers, with a warning', async () => {
    await attach(source, 'team/app', image, place, [signatureBy(keys[0])]);
    await copy();
    const tag = `${digestTag(image)}.${kind}`;
    destination.contents.get('mirror/app')?.tags.set(tag, image);
    const { warnings } = await copy();
    expect(warnings).toEqual([
      expect.stringMatching(/^sha256:.* of the source was not added to tag .*, which was left unchanged/),
    ]);
    expect(destination.contents.get('mirror/app')?.tags.get(tag)).toBe(image);
  });
});

/** Copies with a destination of which somebody else writes tags right after us. */
function copyImageInto(afterPut: (reference: string) => Promise<void>) {
  return copyArtifact(options, async ({ session }) => {
    const sink = registrySink(session.repository(to(), 'pull,push'));
    return {
      source: registrySource(session.repository(from(), 'pull')),
      destination: {
        ...sink,
        async putManifest(...put: Parameters<typeof sink.putManifest>) {
          const stored = await sink.putManifest(...put);
          await afterPut(put[0]);
          return stored;
        },
      },
    };
  });
}

describe('a different SBOM at the destination', () => {
  it('is left unchanged, with a warning that names that of the source: cosign supports one per image', async () => {
    await attach(source, 'team/app', image, 'sbom', [report('of the source')]);
    await attach(destination, 'mirror/app', image, 'sbom', [report('of the destination')]);
    const before = under('sbom').digest;
    const { warnings } = await copy();
    expect(under('sbom').digest).toBe(before);
    const tag = `${digestTag(image)}.sbom`;
    expect(warnings).toEqual([
      expect.stringContaining(
        `${source.contents.get('team/app')?.tags.get(tag)} of the source was not added to`,
      ),
    ]);
    destination.requests.length = 0;
    await copy();
    expect(writes()).toBe(0);
  });
});

describe('an artifact whose own tag is that of an attachment', () => {
  const list = (...entries: { digest: string; platform?: object }[]) => {
    const bytes = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: ociIndex,
        manifests: entries.map((entry) => ({ mediaType: ociManifest, size: 1, ...entry })),
      }),
    );
    return { bytes, digest: digestOf(bytes), mediaType: ociIndex, blobs: [], children: [] };
  };
  const copyTag = (tag: string, image = `team/app:${tag}`) =>
    copyImage({
      ...options,
      source: { ...from(), image },
      destination: { ...to(), image: `mirror/app:${tag}` },
    });
  const put = (registry: Registry, repository: string, tag: string, manifest: ReturnType<typeof list>) => {
    const { tags, manifests } = repositoryOf(registry.contents, repository);
    manifests.set(manifest.digest, manifest);
    tags.set(tag, manifest.digest);
  };

  it.each(['sig', 'att'] as const)('adds its layers under .%s, and a repeat writes nothing', async (kind) => {
    const [made, here] = keys.map((key) => signatureBy(key));
    if (!made || !here) throw new Error('two signatures are needed');
    await attach(source, 'team/app', image, kind as 'sig', [made]);
    await attach(destination, 'mirror/app', image, kind as 'sig', [here]);
    const tag = `${digestTag(image)}.${kind}`;
    const { warnings } = await copyTag(tag);
    expect(layersOf(kind)).toEqual(expected(here, made));
    expect(warnings).toEqual([expect.stringContaining(`is ${under(kind).digest}`)]);
    destination.requests.length = 0;
    await copyTag(tag);
    expect(writes()).toBe(0);
    const compared = await compareArtifact(options, async ({ session }) => ({
      source: registrySource(session.repository({ ...from(), image: `team/app:${tag}` }, 'pull')),
      destination: registrySink(session.repository({ ...to(), image: `mirror/app:${tag}` }, 'pull')),
    }));
    expect(compared.tag?.digest).toBe(compared.digest);
  });

  it('fails if another SBOM exists, or an image would replace signatures', async () => {
    await attach(source, 'team/app', image, 'sbom', [report('of the source')]);
    await attach(destination, 'mirror/app', image, 'sbom', [report('of the destination')]);
    await attach(destination, 'mirror/app', image, 'sig', [signatureBy(keys[0])]);
    const before = [under('sbom').digest, under('sig').digest];
    await expect(copyTag(`${digestTag(image)}.sbom`)).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(/which was left unchanged: .*: delete that tag first/),
    });
    await expect(copyTag(`${digestTag(image)}.sig`, 'team/app:1.0')).rejects.toThrow(
      'which was left unchanged',
    );
    expect([under('sbom').digest, under('sig').digest]).toEqual(before);
  });

  it('adds its entries to a list of referrers, which an image cannot replace', async () => {
    const tag = digestTag(image);
    await seedImage(destination, 'mirror/app', 'other');
    const [here, made] = [destination, source].map(
      (registry) => [...(registry.contents.values().next().value?.manifests.keys() ?? [])][0] ?? '',
    );
    put(destination, 'mirror/app', tag, list({ digest: here ?? '' }));
    put(source, 'team/app', tag, list({ digest: made ?? '' }));
    await copyTag(tag);
    const entries = () => {
      const { tags, manifests } = destination.contents.get('mirror/app') ?? {};
      return JSON.parse(String(manifests?.get(tags?.get(tag) ?? '')?.bytes)).manifests as {
        digest: string;
      }[];
    };
    expect(entries().map(({ digest }) => digest)).toEqual([here, made]);
    await expect(copyTag(tag, 'team/app:1.0')).rejects.toThrow(
      'which was left unchanged: the tag lists referrers',
    );
    expect(entries()).toHaveLength(2);
  });
});
