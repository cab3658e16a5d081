import { expect } from 'vitest';
import { conduitNamespace } from '#shared/domain';
import { type Registries, reachRegistries } from './images.ts';
import { apply, field, kubectl, lines } from './kubectl.ts';

/** A file or folder of `objects`. */
export function objects(name: string): string {
  return `test/cluster/knative/objects/${name}`;
}

/** Two registries, and the namespace of a team that moves images from one to the other. */
export async function prepareTeam(): Promise<Registries> {
  await kubectl('apply', '-f', objects('registries.yaml'));
  for (const name of ['source', 'destination'])
    await kubectl('-n', 'registries', 'rollout', 'status', `deployment/${name}`, '--timeout=120s');
  await kubectl('apply', '-f', objects('team.yaml'));
  await kubectl('apply', '-n', 'team', '-k', 'knative/tenant');
  await openToWorkers('team');
  await openTo(conduitNamespace, prober);
  return reachRegistries();
}

const workers = { 'app.kubernetes.io/name': 'transfer-worker' };
const prober = { 'serving.knative.dev/service': 'probe-endpoint' };

/**
 * Adds to the policies of ARC what an installation has to add for itself: kube-apiserver at its own port, and registries at another port than
 * 443. `pods`: labels of the pods in the namespace that may connect.
 */
async function openTo(namespace: string, pods: Record<string, string>): Promise<void> {
  const endpoint = 'endpoints/kubernetes';
  const address = await field('{.subsets[0].addresses[0].ip}', '-n', 'default', endpoint);
  const port = Number(await field('{.subsets[0].ports[0].port}', '-n', 'default', endpoint));
  const tcp = (number: number) => [{ protocol: 'TCP', port: number }];
  const registries = { 'kubernetes.io/metadata.name': 'registries' };
  const open = { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['private'] }] };
  await apply({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'own-servers', namespace },
    spec: {
      podSelector: { matchLabels: pods },
      policyTypes: ['Egress'],
      egress: [
        { to: [{ ipBlock: { cidr: `${address}/32` } }], ports: tcp(port) },
        { to: [{ namespaceSelector: { matchLabels: registries }, podSelector: open }] },
      ],
    },
  });
}

/** Lets the workers of a namespace reach kube-apiserver and the registries of the tests. */
export function openToWorkers(namespace: string): Promise<void> {
  return openTo(namespace, workers);
}

/** Removes both namespaces and all that is in them. */
export async function removeTeam(): Promise<void> {
  await kubectl('delete', 'namespace', 'registries', 'team', '--ignore-not-found');
}

/** An Order that was made to be disturbed. */
export interface Disturbed {
  name: string;
  /** Its ArtifactWorkflows, by `kind/name`; fails while there are none. */
  begun(): Promise<void>;
  /** Fails unless every image of it has arrived, by one Workflow each. Deletes it. */
  moved(): Promise<void>;
}

const copies = ['a', 'b'];

/** Orders two copies of one image, large enough to die in the middle of. */
export async function disturb(registries: Registries, name: string): Promise<Disturbed> {
  const digest = await registries.seed(`chaos/${name}`, '1.0', 2 * 1024 * 1024);
  await apply(order(name, copies));
  return {
    name,
    async begun() {
      expect(await mine('artifactworkflows', name)).not.toEqual([]);
    },
    async moved() {
      for (const copy of copies)
        expect(await registries.digest(`${registries.destination}/mirror/${name}/${copy}:1.0`)).toBe(digest);
      expect(await mine('artifactworkflows', name)).toHaveLength(copies.length);
      expect(await mine('workflows', name)).toHaveLength(copies.length);
      await kubectl('-n', 'team', 'delete', 'order', name);
    },
  };
}

/** An Order of copies of the image `chaos/<name>:1.0`. */
export function order(name: string, copies: readonly string[]): object {
  const artifacts = copies.map((copy) => ({
    type: 'oci',
    spec: { image: `chaos/${name}:1.0`, override: `${name}/${copy}:1.0` },
  }));
  return orderOf(name, artifacts);
}

/** An Order of the team, from source to destination unless `spec` says otherwise. */
export function orderOf(name: string, artifacts: readonly object[], spec: object = {}): object {
  return {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Order',
    metadata: { name, namespace: 'team' },
    spec: { defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } }, artifacts, ...spec },
  };
}

/** Objects of a kind that belong to an Order, by the beginning of their names. */
export async function mine(kind: string, order: string): Promise<string[]> {
  const names = await lines('-n', 'team', 'get', kind, '-o', 'name');
  return names.filter((name) => name.split('/')[1]?.startsWith(`${order}-`));
}
