import path from 'node:path';
import { stringify } from 'yaml';
import type { KubeObject } from '#shared/base/meta';
import { endpoints, namespaces, type Order, orders } from '#shared/domain';
import { type Kind, objectPath, query, type Transport } from '#shared/kubernetes/client';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { readIfPresent, writeAtomically } from './state-files.ts';

const namespace = 'trial';

export interface OwnRegistries {
  /** An Order that copies from `source` to `destination`. */
  firstOrder: { file: string; namespace: string };
  close(): Promise<void>;
}

/**
 * Starts two in-memory registries, `source` with the image team/app:1.0 and an empty `destination`, applies Endpoints for them, and writes an
 * Order that copies the image. Ports are stable across restarts, because a changed URL would rerun finished Orders.
 */
export async function startOwnRegistries(api: Transport, folder: string): Promise<OwnRegistries> {
  const source = await startOnSavedPort(path.join(folder, 'source-port'));
  const destination = await startOnSavedPort(path.join(folder, 'destination-port'));
  await seedImage(source, 'team/app', '1.0');
  const { apiVersion, kind } = namespaces;
  await apply(api, namespaces, { apiVersion, kind, metadata: { name: namespace } });
  await apply(api, endpoints, endpointOf('source', 'PullOnly', source));
  await apply(api, endpoints, endpointOf('destination', 'PushOnly', destination));
  const file = path.join(folder, 'first-order.yaml');
  const comment = `# Copies from the registry at ${source.url} to the one at ${destination.url}; both are in the memory of \`npm start\`.\n`;
  await writeAtomically(file, comment + stringify(firstOrder));
  return {
    firstOrder: { file, namespace },
    async close() {
      await Promise.all([source.close(), destination.close()]);
    },
  };
}

const firstOrder: Order = {
  apiVersion: orders.apiVersion,
  kind: 'Order',
  metadata: { name: 'first', namespace },
  spec: {
    defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
    artifacts: [{ name: 'app', type: 'oci', spec: { image: 'team/app:1.0' } }],
  },
};

/** Starts a registry on its previous port, or on another one if that is in use. */
async function startOnSavedPort(file: string): Promise<Registry> {
  const last = Number.parseInt((await readIfPresent(file)) ?? '', 10) || 0;
  const registry = await startRegistry({ port: last }).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'EADDRINUSE') throw caught;
    return startRegistry({});
  });
  await writeAtomically(file, new URL(registry.url).port);
  return registry;
}

function endpointOf(name: string, usage: string, { url }: Registry): KubeObject {
  return {
    apiVersion: endpoints.apiVersion,
    kind: 'Endpoint',
    metadata: { name, namespace },
    spec: { type: 'oci', remoteURL: url, usage },
  };
}

async function apply(api: Transport, kind: Kind, object: KubeObject): Promise<void> {
  const at = objectPath(kind, object.metadata) + query({ fieldManager: 'arc-standalone', force: true });
  await api.send({ method: 'PATCH', path: at, body: object, contentType: 'application/apply-patch+yaml' });
}
