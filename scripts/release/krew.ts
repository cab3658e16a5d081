import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jsonToYaml } from '#shared/base/yaml';
import type { ReleaseContext } from './context.ts';
import type { PackedExecutable } from './executables.ts';

/** Writes the krew manifest for `kubectl arc` (krew.sigs.k8s.io/docs/developer-guide/plugin-manifest). */
export async function releaseKrewManifest(
  { folder, version, url }: ReleaseContext,
  packed: readonly PackedExecutable[],
): Promise<void> {
  const own = packed.filter(({ name }) => name === 'arcctl');
  const platforms = await Promise.all(
    own.map(async ({ architecture, file }) => ({
      selector: { matchLabels: { os: 'linux', arch: architecture } },
      uri: `${url.replace(/\/$/, '')}/${path.basename(file)}`,
      sha256: createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
      bin: 'arcctl',
    })),
  );
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'arc' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Show and manage Orders of ARC',
      description:
        'Shows Orders of ARC, the Artifact Conduit, with their artifacts, logs and events; retries, cancels and explains them.',
      platforms,
    },
  };
  await writeFile(path.join(folder, 'krew-arc.yaml'), [...jsonToYaml(manifest)].join(''));
}
