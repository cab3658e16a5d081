import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { digestOf } from '#shared/transfer';
import { type Assembly, assembleImage, type Base } from './assemble.ts';
import { makeLayer } from './layer.ts';
import type { Entry } from './tar.ts';

const entries: Entry[] = [{ type: 'file', path: 'app/a.mjs', mode: 0o644, content: Buffer.from('a') }];
const layerDigest = `sha256:${'1'.repeat(64)}`;
const base: Base = {
  name: 'registry.test/base:1',
  digest: `sha256:${'2'.repeat(64)}`,
  layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', digest: layerDigest, size: 5 }],
  config: {
    architecture: 'amd64',
    os: 'linux',
    config: { Env: ['PATH=/usr/bin', 'SSL_CERT_FILE=/certs'], Labels: { maker: 'them' } },
    rootfs: { diff_ids: [`sha256:${'3'.repeat(64)}`] },
    history: [{ created_by: 'them' }],
  },
};

async function assembly(changes: Partial<Assembly> = {}): Promise<Assembly> {
  const layers = [await makeLayer(entries, 0, 'the programs')];
  return { base: undefined, architecture: 'amd64', layers, created: 0, version: '1.2.3', ...changes };
}

function parts(image: ReturnType<typeof assembleImage>) {
  const manifest = JSON.parse(image.manifest.bytes.toString());
  const config = image.own.find(({ descriptor }) => descriptor.digest === manifest.config.digest);
  return { manifest, config: JSON.parse(config?.bytes.toString() ?? '') };
}

describe('makeLayer', () => {
  it('gives the digests of the tar and of its compressed form, which names no system', async () => {
    const layer = await makeLayer(entries, 0, 'x');
    expect(layer.descriptor.digest).toBe(digestOf(layer.bytes));
    expect(layer.descriptor.size).toBe(layer.bytes.length);
    expect(layer.diffId).toBe(digestOf(gunzipSync(layer.bytes)));
    expect(layer.bytes.subarray(0, 10).toString('hex')).toBe('1f8b080000000000' + '00ff');
  });
});

describe('assembleImage', () => {
  it('is the same for the same assembly, and another for another time or version', async () => {
    const digest = async (changes?: Partial<Assembly>) =>
      assembleImage(await assembly(changes)).manifest.digest;
    expect(await digest()).toBe(await digest());
    expect(
      new Set(await Promise.all([digest(), digest({ created: 1 }), digest({ version: '2' })])).size,
    ).toBe(3);
  });

  it('on nothing, runs Node as nobody', async () => {
    const image = assembleImage(await assembly());
    const { manifest, config } = parts(image);
    expect(image.baseLayers).toEqual([]);
    expect(manifest.layers).toHaveLength(1);
    expect(config).toMatchObject({
      created: '1970-01-01T00:00:00Z',
      architecture: 'amd64',
      os: 'linux',
      config: { User: '65532:65532', Entrypoint: ['/usr/local/bin/node'], WorkingDir: '/app' },
    });
    expect(config.config.Env).toContain('NODE_ENV=production');
    expect(config.config.Labels['org.opencontainers.image.version']).toBe('1.2.3');
    expect(config.config.Labels).not.toHaveProperty(['org.opencontainers.image.base.name']);
  });

  it('on a base, keeps its layers, variables, labels and history, in OCI terms', async () => {
    const image = assembleImage(await assembly({ base }));
    const { manifest, config } = parts(image);
    expect(image.baseLayers).toEqual([manifest.layers[0]]);
    expect(manifest.layers[0]).toEqual({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest: layerDigest,
      size: 5,
    });
    expect(manifest.annotations).toEqual({
      'org.opencontainers.image.base.name': base.name,
      'org.opencontainers.image.base.digest': base.digest,
    });
    expect(config.rootfs.diff_ids).toHaveLength(manifest.layers.length);
    expect(config.history.map((each: { created_by: string }) => each.created_by)).toEqual([
      'them',
      'the programs',
    ]);
    expect(config.config.Labels).toMatchObject({ maker: 'them' });
    // The base's PATH would not find Node.
    expect(config.config.Env).toEqual([
      expect.stringMatching(/^PATH=.*\/usr\/local\/bin:/),
      'SSL_CERT_FILE=/certs',
      'NODE_ENV=production',
      'NODE_OPTIONS=--max-old-space-size-percentage=75',
    ]);
  });
});
