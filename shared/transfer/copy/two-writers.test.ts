import { generateKeyPairSync } from 'node:crypto';
import os from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { pause } from '#shared/base/async';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyArtifact } from '../artifact/copy-artifact.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import type { Repository } from '../oci/repository.ts';
import { digestTag } from '../reference/digest.ts';
import { attach, payloadLayer, payloadOf, signed } from '../testing/signing.ts';

const signal = new AbortController().signal;
const options = { signal, workDir: os.tmpdir(), retry: { attempts: 1, baseMs: 1, maxMs: 2 } };
const running: Registry[] = [];
afterEach(() => Promise.all(running.splice(0).map((registry) => registry.close())));

async function registry(referrersApi = true): Promise<Registry> {
  const started = await startRegistry({ referrersApi });
  running.push(started);
  return started;
}

type Wrap = (repository: Repository) => Repository;

/** Two writers of `tag`: both read it before either writes it, and the late one writes when the early one could have looked for its own write. */
function interleaved(tag: string): { early: Wrap; late: Wrap } {
  const written = Promise.withResolvers<void>();
  const reads = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const bothRead = Promise.all(reads.map(({ promise }) => promise));
  const wrap =
    (index: number): Wrap =>
    (repository) => {
      const read =
        <T>(reading: (reference: string, signal: AbortSignal) => Promise<T>) =>
        async (reference: string, signal: AbortSignal): Promise<T> => {
          const result = await reading(reference, signal);
          if (reference !== tag) return result;
          reads[index]?.resolve();
          await bothRead;
          return result;
        };
      return {
        ...repository,
        head: read(repository.head),
        manifest: read(repository.manifest),
        async putManifest(reference, manifest, signal) {
          if (reference === tag && index === 1) {
            await written.promise;
            await pause(50, signal);
          }
          const stored = await repository.putManifest(reference, manifest, signal);
          if (reference === tag) written.resolve();
          return stored;
        },
      };
    };
  return { early: wrap(0), late: wrap(1) };
}

describe('two copies that write one tag of the destination concurrently', () => {
  it.each([
    ['signatures under the tag of cosign', 'sig', true],
    ['lists of referrers of a registry without the API', 'referrer', false],
  ] as const)('keep both %s', async (_, where, referrersApi) => {
    const [one, two, destination] = [await registry(), await registry(), await registry(referrersApi)];
    let image = '';
    for (const source of [one, two]) {
      ({ digest: image } = await seedImage(source, 'team/app', '1.0', { signature: false }));
      const payload = payloadOf(image);
      const layer = payloadLayer(payload, signed(payload, generateKeyPairSync('ed25519').privateKey));
      await attach(source, 'team/app', image, where, [layer]);
    }
    const tag = where === 'sig' ? `${digestTag(image)}.sig` : digestTag(image);
    const { early, late } = interleaved(tag);
    const copy = (source: Registry, wrap: Wrap) =>
      copyArtifact(options, async ({ session }) => ({
        source: registrySource(
          session.repository({ name: 's', remoteURL: source.url, image: 'team/app:1.0' }, 'pull'),
        ),
        destination: registrySink(
          wrap(
            session.repository(
              { name: 'd', remoteURL: destination.url, image: 'mirror/app:1.0' },
              'pull,push',
            ),
          ),
        ),
      }));
    await Promise.all([copy(one, early), copy(two, late)]);
    const { tags, manifests } = destination.contents.get('mirror/app') ?? {};
    const body = JSON.parse(String(manifests?.get(tags?.get(tag) ?? '')?.bytes));
    expect(body.layers ?? body.manifests).toHaveLength(2);
  });
});
