import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#shared/base/meta';

export const namespace = 'demo';
const group = 'arc.opendefense.cloud/v1alpha1';

/** URL and credentials of a registry of the demo. */
export interface RegistryAccess {
  url: string;
  credentials?: { username: string; password: string };
}

/** The demo's web server: files, and charts whose images are in a registry with authentication. */
export interface WebAccess {
  url: string;
  registry: RegistryAccess;
}

/** One artifact of the demo's Order. */
export interface DemoArtifact {
  name: string;
  type: 'oci' | 'helm' | 'file';
  /** Name of the source Endpoint. */
  source: string;
  spec: Record<string, unknown>;
}

/** Returns the objects of a platform team: the types and Argo templates that ARC ships. */
export async function platformObjects(): Promise<KubeObject[]> {
  const files = [
    'knative/workflow-templates/oci-image.yaml',
    'knative/workflow-templates/file.yaml',
    'knative/base/artifact-types/oci.yaml',
    'knative/base/artifact-types/helm.yaml',
    'knative/base/artifact-types/file.yaml',
  ];
  const texts = await Promise.all(
    files.map((file) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')),
  );
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
}

/** Returns the namespace, credentials and Endpoints that the first Order needs. */
export function tenantObjects(
  source: RegistryAccess,
  destination: RegistryAccess,
  web?: WebAccess,
): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...endpoint({ name: 'source', type: 'oci', usage: 'PullOnly', url: source.url }, basic(source)),
    ...endpoint(
      { name: 'destination', type: 'oci', usage: 'PushOnly', url: destination.url },
      basic(destination),
    ),
    ...(web ? webEndpoints(web) : []),
  ];
}

function webEndpoints({ url, registry }: WebAccess): KubeObject[] {
  return [
    ...endpoint({ name: 'downloads', type: 'http', usage: 'PullOnly', url }),
    ...endpoint(
      { name: 'charts', type: 'helm', usage: 'PullOnly', url: `${url}/charts` },
      login(registry),
      // The registry of its charts' images.
      { redirectHosts: [new URL(registry.url).host] },
    ),
  ];
}

type SecretContent = { type: string; stringData: Record<string, string> };

function basic({ credentials }: RegistryAccess): SecretContent | undefined {
  return credentials && { type: 'kubernetes.io/basic-auth', stringData: credentials };
}

/** Returns a Docker config as written by `docker login`: it limits the password to that registry. */
function login({ url, credentials }: RegistryAccess): SecretContent | undefined {
  if (!credentials) return undefined;
  const auths = { [new URL(url).host]: credentials };
  const stringData = { '.dockerconfigjson': JSON.stringify({ auths }) };
  return { type: 'kubernetes.io/dockerconfigjson', stringData };
}

function endpoint(
  { name, type, usage, url }: Record<'name' | 'type' | 'usage' | 'url', string>,
  content?: SecretContent,
  more: Record<string, unknown> = {},
): KubeObject[] {
  const secretName = `${name}-credentials`;
  const secret = content && { secretRef: { name: secretName } };
  const spec = { type, remoteURL: url, usage, ...secret, ...more };
  const object: KubeObject = { apiVersion: group, kind: 'Endpoint', metadata: { name, namespace }, spec };
  if (!content) return [object];
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName, namespace }, ...content },
    object,
  ];
}

/** Returns the Order with all artifacts. */
export function orderOf(artifacts: readonly DemoArtifact[]): KubeObject {
  return {
    apiVersion: group,
    kind: 'Order',
    metadata: { name: 'demo', namespace },
    spec: {
      defaults: { dstRef: { name: 'destination' } },
      artifacts: artifacts.map(({ name, type, source, spec }) => ({
        name,
        type,
        srcRef: { name: source },
        spec,
      })),
    },
  };
}
