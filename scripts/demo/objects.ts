import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#shared/meta';

export const namespace = 'demo';
const group = 'arc.opendefense.cloud/v1alpha1';

/** How a registry of the demo is reached. */
export interface RegistryAccess {
  url: string;
  credentials?: { username: string; password: string };
}

/** One artifact of the demo's Order: what the copy is called where it comes from and where it goes. */
export interface DemoArtifact {
  name: string;
  type: 'oci' | 'file';
  /** An image, or the path of a file. */
  image: string;
  override: string;
  /** The Endpoint it is asked from; `source` is the right one. */
  source: string;
}

/** The objects a platform team sets up once: the type and its Argo template, exactly the files that are shipped. */
export async function platformObjects(): Promise<KubeObject[]> {
  const files = [
    'knative/workflow-templates/oci-image.yaml',
    'knative/workflow-templates/file.yaml',
    'knative/base/artifact-types/oci.yaml',
    'knative/base/artifact-types/file.yaml',
  ];
  const texts = await Promise.all(
    files.map((file) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')),
  );
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
}

/** Namespace, credentials and Endpoints: what a user needs before the first Order. */
export function tenantObjects(
  source: RegistryAccess,
  destination: RegistryAccess,
  downloads?: string,
): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...endpoint('source', 'oci', 'PullOnly', source),
    ...endpoint('destination', 'oci', 'PushOnly', destination),
    ...(downloads === undefined ? [] : endpoint('downloads', 'http', 'PullOnly', { url: downloads })),
  ];
}

function endpoint(name: string, type: string, usage: string, access: RegistryAccess): KubeObject[] {
  const secretName = `${name}-credentials`;
  const secret: KubeObject[] = access.credentials
    ? [
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: secretName, namespace },
          type: 'kubernetes.io/basic-auth',
          stringData: access.credentials,
        },
      ]
    : [];
  return [
    ...secret,
    {
      apiVersion: group,
      kind: 'Endpoint',
      metadata: { name, namespace },
      spec: {
        type,
        remoteURL: access.url,
        usage,
        ...(access.credentials && { secretRef: { name: secretName } }),
      },
    },
  ];
}

/** The Order: every artifact from its source to the destination. */
export function orderOf(artifacts: readonly DemoArtifact[]): KubeObject {
  return {
    apiVersion: group,
    kind: 'Order',
    metadata: { name: 'demo', namespace },
    spec: {
      defaults: { dstRef: { name: 'destination' } },
      artifacts: artifacts.map(({ name, type, image, override, source }) => ({
        name,
        type,
        srcRef: { name: source },
        spec: type === 'file' ? { path: image, override } : { image, override },
      })),
    },
  };
}
