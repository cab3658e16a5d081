import { expect } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { field, kubectl, lines } from './kubectl.ts';
import { objects } from './team.ts';

const minutes = 60_000;
/** The namespace of ARC. */
export const arc = 'arc-system';

/** A way to install ARC: a folder for kustomize, and the volumes that keep its data. */
export interface Installation {
  overlay: string;
  volumes: readonly string[];
}

export const dev: Installation = { overlay: 'knative/overlays/dev', volumes: ['arc-etcd-0'] };
/** Three members of etcd. */
export const production: Installation = {
  overlay: objects('production'),
  volumes: ['arc-production-0', 'arc-production-1', 'arc-production-2'],
};

/** Installs ARC and waits until every part of it is ready. */
export async function install({ overlay, volumes }: Installation): Promise<void> {
  for (const volume of volumes) await letGo(volume);
  await kubectl('apply', '-k', overlay);
  await untilReady();
}

/** Waits until every part of an installation is ready. */
export async function untilReady(): Promise<void> {
  await kubectl('-n', 'arc-system', 'rollout', 'status', 'statefulset/etcd', '--timeout=240s');
  for (const name of ['certificate-issuer', 'api-server', 'watch-bridge'])
    await kubectl('-n', 'arc-system', 'rollout', 'status', `deployment/${name}`, '--timeout=240s');
  await kubectl(
    '-n',
    'arc-system',
    'wait',
    '--for=condition=Ready',
    '--timeout=240s',
    'ksvc,broker,trigger',
    '--all',
  );
  await kubectl(
    'wait',
    '--for=condition=Available',
    '--timeout=60s',
    'apiservice/v1alpha1.arc.opendefense.cloud',
  );
  await eventually('the artifact types of the installation', minutes, async () => {
    expect(await lines('get', 'clusterartifacttypes', '-o', 'name')).toContain(
      'clusterartifacttype.arc.opendefense.cloud/oci',
    );
  });
}

/** A volume keeps its data; the claim that it was bound to last has to be forgotten before it is bound anew. */
export async function letGo(volume: string): Promise<void> {
  const unbound = '{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}';
  await eventually(`PersistentVolume ${volume} to be let go by its last claim`, minutes, async () =>
    expect(await field('{.status.phase}', 'persistentvolume', volume)).toMatch(/^(Available|Released)$/),
  );
  if ((await field('{.status.phase}', 'persistentvolume', volume)) === 'Released')
    await kubectl('patch', 'persistentvolume', volume, '--type=merge', `--patch=${unbound}`);
}

/** Removes ARC; what users made stays. */
export async function uninstall({ overlay }: Installation): Promise<void> {
  await kubectl('delete', '-k', overlay, '--ignore-not-found');
}

/** `name replicas` of every function: how many pods it is meant to have, whatever still ends. */
export function desired(): Promise<string[]> {
  const columns =
    'custom-columns=NAME:.metadata.labels.serving\\.knative\\.dev/service,REPLICAS:.spec.replicas';
  return lines(
    '-n',
    'arc-system',
    'get',
    'deployments',
    '-l',
    'serving.knative.dev/service',
    '--no-headers',
    '-o',
    columns,
  );
}

export async function atZero(): Promise<void> {
  await eventually('every function to be at zero', 3 * minutes, async () => {
    const found = await desired();
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((line) => !/ 0$/.test(line))).toEqual([]);
  });
}

/** Pods of a part, those that end included, as `pod/name`. */
export function pods(name: string): Promise<string[]> {
  return lines('-n', arc, 'get', 'pods', '-l', `app.kubernetes.io/name=${name}`, '-o', 'name');
}

/** The one that leads of the bridge's replicas. */
export async function bridgeLeader(): Promise<string> {
  const holder = await kubectl(
    '-n',
    'arc-system',
    'get',
    'lease',
    'watch-bridge',
    '-o',
    'jsonpath={.spec.holderIdentity}',
  );
  return holder.split('_')[0] ?? '';
}

/** Waits for an Order of `namespace` to end; resolves with its phase. Shows what it was doing where it does not end. */
export async function ended(namespace: string, name: string): Promise<string> {
  let phase = '';
  await eventually(`Order ${name} to end`, 6 * minutes, async () => {
    const [seen = '', message = ''] = (
      await kubectl(
        '-n',
        namespace,
        'get',
        'order',
        name,
        '-o',
        'jsonpath={.status.phase}{"\\n"}{.status.message}',
      )
    ).split('\n');
    expect(seen, message).toMatch(/^(Succeeded|Failed)$/);
    phase = seen;
  });
  return phase;
}

/** Lines of the audit log of every api-server that runs, parsed. */
export async function auditLog(): Promise<AuditEvent[]> {
  const running = await pods('api-server');
  const logs = await Promise.all(running.map((pod) => lines('-n', 'arc-system', 'logs', pod)));
  return logs
    .flat()
    .filter((line) => line.includes('"audit.k8s.io/v1"'))
    .map((line) => JSON.parse(line) as AuditEvent);
}

export interface AuditEvent {
  requestReceivedTimestamp: string;
  verb: string;
  requestURI: string;
  objectRef?: { resource?: string; subresource?: string };
  user: { username: string };
  annotations?: Record<string, string>;
  responseStatus?: { code?: number };
}
