import { readFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { loadManifests } from '#shared/local';

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
const block = z.strictObject({ cidr: z.string(), except: z.array(z.string()).default([]) });
const egress = z.strictObject({
  to: z.array(z.strictObject({ ipBlock: block })),
  ports: z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: z.int() })).optional(),
});
const egressSpec = z.strictObject({
  podSelector: selector,
  policyTypes: z.tuple([z.literal('Egress')]),
  egress: z.array(egress),
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
  /** Of the namespace. */
  namespaceLabels?: Record<string, string>;
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
      ? fits(namespaceSelector, {
          'kubernetes.io/metadata.name': client.namespace,
          ...client.namespaceLabels,
        })
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

type Manifest = Awaited<ReturnType<typeof loadManifests>>[number];
const isEgress = ({ spec }: Manifest) => egressSpec.safeParse(spec).success;

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
  backup: named('backup'),
  prometheus: { namespace: 'monitoring', namespaceLabels: { 'arc.opendefense.cloud/metrics': 'true' } },
};
const all = Object.keys(clients);
const serving = ['activator', 'kourier'];

describe('the network policies, on the pods of knative/base', () => {
  let policies: Policy[];
  const servers = new Map<string, Server>();

  beforeAll(async () => {
    const manifests = await loadManifests('knative/components/network-policies');
    policies = manifests.filter((one) => !isEgress(one)).map(({ spec }) => policySpec.parse(spec));
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
    ['etcd', 2379, ['api-server', 'etcd', 'backup']],
    ['etcd', 2380, ['etcd']],
    ['etcd', 2381, ['prometheus']],
    ['decompose-order', 8012, serving],
    ['decompose-order', 8112, serving],
    ['decompose-order', 9090, serving],
    ['decompose-order', 8080, ['prometheus']],
    ['decompose-order', 9091, ['prometheus']],
    ['report-dead-letter', 8012, serving],
    ['certificate-issuer', 8080, ['prometheus']],
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

/** True if one of the rules allows this connection. */
function letsOut(rules: readonly z.infer<typeof egress>[], host: string, protocol: string, port: number) {
  return rules.some(
    ({ to, ports }) =>
      to.some(({ ipBlock }) => isIn(host, [ipBlock.cidr]) && !isIn(host, ipBlock.except)) &&
      (ports?.some((one) => one.protocol === protocol && one.port === port) ?? true),
  );
}

function isIn(host: string, blocks: readonly string[]): boolean {
  const list = new BlockList();
  const family = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
  for (const block of blocks) {
    const [address = '', length] = block.split('/');
    list.addSubnet(address, Number(length), family(address));
  }
  return list.check(host, family(host));
}

describe('the network policies for what leaves the pods of transfers and of probes', () => {
  const policiesIn = async (folder: string) =>
    (await loadManifests(folder)).filter(isEgress).map(({ metadata, spec }) => ({
      name: metadata.name,
      ...egressSpec.parse(spec),
    }));

  it.each<[string, 'TCP' | 'UDP', number, boolean]>([
    // Registries of the internet, at any port.
    ['8.8.8.8', 'TCP', 443, true],
    ['203.1.2.3', 'TCP', 5000, true],
    ['2606:4700::1111', 'TCP', 443, true],
    // DNS, kube-apiserver, and private registries at the usual port.
    ['10.96.0.10', 'UDP', 53, true],
    ['169.254.20.10', 'UDP', 53, true],
    ['10.96.0.1', 'TCP', 443, true],
    ['192.168.1.4', 'TCP', 6443, true],
    ['fd12::1', 'TCP', 443, true],
    // Other servers of the private network and of the node, and what clouds serve credentials at.
    ['10.1.2.3', 'TCP', 80, false],
    ['10.1.2.3', 'TCP', 8080, false],
    ['172.20.0.5', 'TCP', 5432, false],
    ['192.168.1.4', 'TCP', 10250, false],
    ['100.64.0.1', 'TCP', 2379, false],
    ['fd12::1', 'TCP', 80, false],
    ['127.0.0.1', 'TCP', 443, false],
    ['169.254.169.254', 'TCP', 80, false],
    ['169.254.169.254', 'TCP', 443, false],
    ['169.254.169.254', 'UDP', 53, false],
    ['168.63.129.16', 'TCP', 80, false],
    ['fd00:ec2::254', 'TCP', 443, false],
    ['fd20:ce::254', 'TCP', 443, false],
    ['fe80::1', 'TCP', 443, false],
    ['2002:a00:1::', 'TCP', 443, false],
    ['64:ff9b::a9fe:a9fe', 'TCP', 443, false],
    ['64:ff9b::808:808', 'TCP', 443, false],
  ])('let out to %s by %s at %i: %s', async (host, protocol, port, expected) => {
    for (const folder of ['knative/tenant', 'knative/components/network-policies']) {
      const found = await policiesIn(folder);
      expect(found.length, folder).toBeGreaterThan(0);
      const rules = found.flatMap((policy) => policy.egress);
      expect(letsOut(rules, host, protocol, port), folder).toBe(expected);
    }
  });

  it('select the pods of every template of ARC, and those of probe-endpoint', async () => {
    const workers = await policiesIn('knative/tenant');
    const templates = [
      ...(await loadManifests('knative/workflow-templates')),
      ...(await loadManifests('knative/components/quarantine')),
    ].filter(({ kind }) => kind === 'ClusterWorkflowTemplate');
    expect(templates.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'arc-bundle',
      'arc-file',
      'arc-oci-image',
      'arc-oci-quarantine',
    ]);
    const shape = z.looseObject({
      templates: z.array(z.looseObject({ metadata: z.looseObject({ labels }) })),
    });
    for (const { metadata, spec } of templates)
      for (const one of shape.parse(spec).templates)
        for (const { podSelector } of workers)
          expect(fits(podSelector, one.metadata.labels), metadata.name).toBe(true);
    const [probes] = await policiesIn('knative/components/network-policies');
    expect(probes?.podSelector.matchLabels).toEqual({ 'serving.knative.dev/service': 'probe-endpoint' });
  });
});
