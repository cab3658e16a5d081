import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { settingsMap } from '#shared/conduit/function-kit';
import { configMaps, features, namespaces } from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import type { Manifest } from '#shared/local';
import { conduitNamespace } from './identities.ts';

/** Creates the namespaces `default` and ARC's own. */
export async function ensureNamespaces(api: KubeClient): Promise<void> {
  for (const name of ['default', conduitNamespace]) {
    const { apiVersion, kind } = namespaces;
    await ignoreExisting(api.create(namespaces, { apiVersion, kind, metadata: { name } }));
  }
}

/** On a local machine, Endpoints may use loopback registries. */
const localDefaults = { 'probes.allowedRanges': '127.0.0.0/8, ::1/128' };

/** Creates the ConfigMap of the operator's settings. At each start only its features are reset to those of the manifests. */
export async function ensureSettings(api: KubeClient, manifests: readonly Manifest[]): Promise<void> {
  const { apiVersion, kind } = configMaps;
  await ignoreExisting(api.create(configMaps, { apiVersion, kind, metadata: { ...settingsMap } }));
  const before = (await api.get(configMaps, settingsMap))?.data;
  const installed = manifests.find((one) => one.kind === kind && one.metadata.name === settingsMap.name);
  const wanted = isRecord(installed?.data) ? installed.data : {};
  const data = Object.fromEntries(
    features.map((name) => [`features.${name}`, wanted[`features.${name}`] ?? null]),
  );
  await api.mergePatch(configMaps, settingsMap, { data: { ...localDefaults, ...before, ...data } });
}

async function ignoreExisting(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
  }
}
