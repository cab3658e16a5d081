import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { loadManifests } from '#shared/embedded';

const labels = z.record(z.string(), z.string());
const expression = z.strictObject({
  key: z.string(),
  operator: z.enum(['In', 'Exists']),
  values: z.array(z.string()).optional(),
});
const selector = z.strictObject({
  matchLabels: labels.default({}),
  matchExpressions: z.array(expression).default([]),
});
const peer = z.strictObject({ podSelector: selector.optional(), namespaceSelector: selector.optional() });
const ingress = z.strictObject({
  from: z.array(peer).optional(),
  ports: z.array(z.strictObject({ port: z.union([z.int(), z.string()]) })),
});
const policySpec = z.strictObject({
  podSelector: selector,
  policyTypes: z.tuple([z.literal('Ingress')]),
  ingress: z.array(ingress).default([]),
});
type Selector = z.infer<typeof selector>;
type Policy = z.infer<typeof policySpec>;

const template = z.looseObject({
  template: z.looseObject({
    metadata: z.looseObject({ labels }),
    spec: z.looseObject({
      containers: z.array(
        z.looseObject({
          ports: z.array(z.looseObject({ name: z.string().optional(), containerPort: z.int() })).default([]),
        }),
      ),
    }),
  }),
});

/** A pod, or a program of a node, which is in no namespace. */
interface Client {
  namespace?: string;
  labels?: Record<string, string>;
}

interface Server {
  name: string;
  labels: Record<string, string>;
  /** By name. */
  ports: Map<string, number>;
}

function fits({ matchLabels, matchExpressions }: Selector, given: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => given[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) =>
      operator === 'Exists' ? key in given : values.includes(given[key] ?? ''),
    )
  );
}

/** What Kubernetes' documentation says of policies: those that select a pod add up, and without any everything is let in. */
function letsIn(policies: readonly Policy[], server: Server, port: number, client: Client): boolean {
  const mine = policies.filter(({ podSelector }) => fits(podSelector, server.labels));
  const isFrom = ({ podSelector, namespaceSelector }: z.infer<typeof peer>) =>
    client.namespace !== undefined &&
    (namespaceSelector
      ? fits(namespaceSelector, { 'kubernetes.io/metadata.name': client.namespace })
      : client.namespace === 'arc-system') &&
    (podSelector ? fits(podSelector, client.labels ?? {}) : true);
  const rules = mine.flatMap((policy) => policy.ingress);
  return (
    mine.length === 0 ||
    rules.some(
      ({ from, ports }) =>
        (from?.some(isFrom) ?? true) &&
        ports.some((one) => (typeof one.port === 'string' ? server.ports.get(one.port) : one.port) === port),
    )
  );
}

const named = (name: string) => ({ namespace: 'arc-system', labels: { 'app.kubernetes.io/name': name } });
const clients: Record<string, Client> = {
  'kube-apiserver': {},
  activator: { namespace: 'knative-serving' },
  kourier: { namespace: 'kourier-system' },
  'the broker': { namespace: 'knative-eventing' },
  'a pod of a tenant': { namespace: 'team', labels: { 'app.kubernetes.io/name': 'api-server' } },
  'api-server': named('api-server'),
  etcd: named('etcd'),
  'watch-bridge': named('watch-bridge'),
  'decompose-order': named('decompose-order'),
};
const all = Object.keys(clients);
const serving = ['activator', 'kourier'];

describe('the network policies, on the pods of knative/base', () => {
  let policies: Policy[];
  const servers = new Map<string, Server>();

  beforeAll(async () => {
    const manifests = await loadManifests('knative/components/network-policies');
    policies = manifests.map(({ spec }) => policySpec.parse(spec));
    for (const { apiVersion, metadata, spec } of await loadManifests('knative/base')) {
      const found = template.safeParse(spec);
      if (!found.success) continue;
      const pod = found.data.template;
      // Knative adds this one.
      const added = apiVersion.startsWith('serving.') && { 'serving.knative.dev/service': metadata.name };
      const ports = pod.spec.containers.flatMap((container) => container.ports);
      servers.set(metadata.name, {
        name: metadata.name,
        labels: { ...pod.metadata.labels, ...added },
        ports: new Map(ports.flatMap(({ name, containerPort }) => (name ? [[name, containerPort]] : []))),
      });
    }
  });

  it('select every pod, and each selects some', () => {
    const pods = [...servers.values()];
    expect(pods.length).toBeGreaterThan(10);
    for (const pod of pods)
      expect(
        policies.some(({ podSelector }) => fits(podSelector, pod.labels)),
        pod.name,
      ).toBe(true);
    for (const { podSelector, ingress: rules } of policies) {
      const chosen = pods.filter((pod) => fits(podSelector, pod.labels));
      expect(chosen, JSON.stringify(podSelector)).not.toEqual([]);
      const names = rules.flatMap(({ ports }) => ports.map(({ port }) => port));
      for (const name of names.filter((port) => typeof port === 'string'))
        for (const pod of chosen) expect([...pod.ports.keys()], pod.name).toContain(name);
    }
  });

  it.each<[string, number, string[]]>([
    // It asks everybody who they are.
    ['api-server', 8443, all],
    ['etcd', 2379, ['api-server', 'etcd']],
    ['etcd', 2380, ['etcd']],
    ['etcd', 2381, []],
    ['decompose-order', 8012, serving],
    ['decompose-order', 8112, serving],
    ['decompose-order', 9090, serving],
    ['decompose-order', 8080, []],
    ['report-dead-letter', 8012, serving],
    ['certificate-issuer', 8080, []],
    // Metrics and health.
    ['watch-bridge', 8080, all],
    ['watch-bridge', 9000, []],
  ])('let in to %s at %i: %j', (name, port, expected) => {
    const server = servers.get(name);
    if (!server) throw new Error(`knative/base has no ${name}`);
    expect(all.filter((client) => letsIn(policies, server, port, clients[client] ?? {}))).toEqual(expected);
  });

  it.each(['dev', 'production'])('are in overlays/%s', async (name) => {
    const text = await readFile(`knative/overlays/${name}/kustomization.yaml`, 'utf8');
    const { components } = z.looseObject({ components: z.array(z.string()) }).parse(parse(text));
    expect(components).toContain('../../components/network-policies');
  });
});
