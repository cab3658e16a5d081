import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseManifests } from '#shared/local';
import type { ReleaseContext } from './context.ts';
import { runCommand } from './run-command.ts';

export const overlays = ['production', 'dev'] as const;
export type Overlay = (typeof overlays)[number];

/** An object as kustomize renders it. */
export type Rendered = ReturnType<typeof parseManifests>[number];

/** The image names in the overlays that the released image replaces. */
const placeholders = /\b(?:registry\.example\.com|dev\.local)\/artifact-conduit:[\w.-]+/g;

/** Renders a folder below knative/ with kustomize, as YAML with `image` as the image of ARC. */
export async function renderFolder(folder: string, image: string, signal: AbortSignal): Promise<string> {
  const text = await runCommand('kubectl', ['kustomize', path.join('knative', folder)], { signal });
  return text.replace(placeholders, () => image);
}

/** Writes one YAML per overlay and one for a tenant namespace, for `kubectl apply -f`. */
export async function releaseManifests(context: ReleaseContext, image: string): Promise<void> {
  const { folder, version, signal } = context;
  await mkdir(path.join(folder, 'manifests'), { recursive: true });
  for (const [name, source] of [
    ...overlays.map((each) => [each, `overlays/${each}`]),
    ['tenant', 'tenant'],
  ]) {
    const text = await renderFolder(source ?? '', image, signal);
    const head = `# ARC ${version}, generated from knative/${source}. See knative/README.md.\n`;
    await writeFile(path.join(folder, 'manifests', `${name}.yaml`), head + text);
  }
}

/** Parses the objects of a rendered folder. */
export function objectsOf(text: string, what: string): Rendered[] {
  return parseManifests(text, what);
}

/** Returns etcd's image in the manifests. */
export async function etcdImage(): Promise<string> {
  const text = await readFile('knative/base/etcd/statefulset.yaml', 'utf8');
  const image = /image: (\S*etcd:\S+)/.exec(text)?.[1];
  if (image === undefined) throw new Error('knative/base/etcd/statefulset.yaml names no image of etcd');
  return image;
}
