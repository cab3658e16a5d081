import { glob, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { listBytes } from '#shared/conduit/function-kit';
import { type Fn, times } from '#shared/conduit/runtime';
import { type Step, stepNames, steps } from '#shared/domain';
import { loadManifests } from '#shared/local';
import { leaseName } from '../../functions/watch-bridge/replica.ts';

const base = 'knative/base';
const notFunctions = ['api-server', 'certificate-issuer', 'watch-bridge', 'transfer-worker'];

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
type Manifest = z.infer<typeof manifest> & { file: string };

const rule = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
  verbs: z.array(z.string()),
});
const trigger = z.looseObject({
  spec: z.looseObject({
    filters: z.array(
      z.union([
        z.object({ exact: z.record(z.string(), z.string()) }),
        z.object({ any: z.array(z.object({ exact: z.record(z.string(), z.string()) })) }),
      ]),
    ),
    subscriber: z.object({ ref: z.looseObject({ name: z.string() }) }),
    delivery: z.object({
      retry: z.int().min(1),
      backoffPolicy: z.literal('exponential'),
      backoffDelay: z.string(),
      timeout: z.string(),
      deadLetterSink: z.object({
        ref: z.object({
          apiVersion: z.literal('serving.knative.dev/v1'),
          kind: z.literal('Service'),
          name: z.string(),
        }),
      }),
    }),
  }),
});

const componentPatches = z.object({
  patches: z.array(z.looseObject({ target: z.object({ kind: z.string(), name: z.string().optional() }) })),
});
const workflowTemplate = z.looseObject({
  kind: z.literal('ClusterWorkflowTemplate'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ templates: z.array(z.unknown()) }),
});

async function load(): Promise<Manifest[]> {
  const found: Manifest[] = [];
  for await (const file of glob('knative/{base,workflow-templates,tenant,examples}/**/*.yaml')) {
    if (file.endsWith('kustomization.yaml')) continue;
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    for (const document of documents) found.push({ ...manifest.parse(document.toJS()), file });
  }
  return found;
}

/** `<kind> <step>` that a Trigger lets through. */
function pairsOf(one: Manifest): string[] {
  const filters = trigger
    .parse(one)
    .spec.filters.flatMap((filter) =>
      'any' in filter ? filter.any.map(({ exact }) => exact) : [filter.exact],
    );
  const valuesOf = (attribute: string) => filters.flatMap((exact) => exact[attribute] ?? []);
  return valuesOf('kind').flatMap((kind) => valuesOf('step').map((step) => `${kind} ${step}`));
}

const functionOf: Readonly<Record<Step, string>> = {
  decompose: 'decompose-order',
  'roll-up': 'roll-up-order',
  render: 'render-secret',
  submit: 'submit-workflow',
  sync: 'sync-status',
  'track-credentials': 'track-credentials',
  probe: 'probe-endpoint',
  expire: 'expire-objects',
};

async function functionNames(): Promise<string[]> {
  const entries = await readdir('functions', { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

describe('the manifests in knative/', () => {
  let all: Manifest[] = [];
  const ofKind = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));

  beforeAll(async () => {
    all = await load();
  });

  it('are there for every function: account, role, service, trigger, func.yaml and README', async () => {
    for (const name of await functionNames()) {
      if (name === 'transfer-worker') continue;
      const mine = all.filter(({ file }) => path.dirname(file) === path.join(base, name));
      const kinds = mine.map(({ kind }) => kind);
      expect(kinds, name).toEqual(
        expect.arrayContaining(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding']),
      );
      await stat(path.join('functions', name, 'README.md'));
      if (notFunctions.includes(name)) continue;
      // What is refused comes to report-dead-letter by the delivery of every Trigger.
      const woken = name === 'report-dead-letter' ? ['Service'] : ['Service', 'Trigger'];
      expect(kinds, name).toEqual(expect.arrayContaining(woken));
      await stat(path.join('functions', name, 'func.yaml'));
    }
  });

  it('give the functions memory for what their slots may read at once', async () => {
    for (const name of await functionNames()) {
      if (notFunctions.includes(name)) continue;
      const { concurrency } = (await import(path.resolve('functions', name, 'index.ts'))) as Partial<Fn>;
      if (concurrency === undefined) continue;
      const text = await readFile(path.join(base, name, 'service.yaml'), 'utf8');
      const gibibytes = Number(/limits:\n\s+memory: (\d+)Gi\n/.exec(text)?.[1]);
      // A list takes 2.5 times its bytes when it is parsed; the heap is 75 % of the limit (scripts/image/assemble.ts).
      expect(0.75 * gibibytes * 2 ** 30, name).toBeGreaterThan(concurrency * listBytes * 2.5);
    }
  });

  it('are reached by kustomize: every file is listed by the kustomization of its folder', async () => {
    for (const folder of await readdir(base)) {
      if (folder === 'kustomization.yaml') continue;
      const text = await readFile(path.join(base, folder, 'kustomization.yaml'), 'utf8');
      const files = (await readdir(path.join(base, folder))).filter((file) => file !== 'kustomization.yaml');
      for (const file of files) expect(text, `${folder}/${file}`).toContain(`- ${file}`);
      expect(await readFile(path.join(base, 'kustomization.yaml'), 'utf8')).toContain(`- ${folder}`);
    }
  });

  it('have a row in the table of knative/README.md for each component', async () => {
    const text = await readFile('knative/README.md', 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    for (const name of await readdir('knative/components'))
      expect(
        rows.some((row) => row.split(' | ')[0]?.includes(`\`${name}\``)),
        name,
      ).toBe(true);
  });

  it('of component few-cores change only templates that have what they change', async () => {
    const { patches } = componentPatches.parse(
      parse(await readFile('knative/components/few-cores/kustomization.yaml', 'utf8')),
    );
    const { target } = patches.find(({ target: each }) => each.kind === 'ClusterWorkflowTemplate') ?? {};
    const chosen = new RegExp(`^(?:${target?.name ?? '.*'})$`);
    const changed: string[] = [];
    for await (const file of glob('knative/{workflow-templates,components}/**/*.yaml')) {
      const [first, ...more] = parseAllDocuments(await readFile(file, 'utf8'));
      const template = workflowTemplate.safeParse(first?.toJS());
      if (more.length > 0 || !template.success || !chosen.test(template.data.metadata.name)) continue;
      changed.push(template.data.metadata.name);
      expect(template.data.spec.templates[0], file).toMatchObject({
        container: { resources: { requests: {} } },
      });
    }
    expect(changed.toSorted()).toEqual(['arc-bundle', 'arc-file', 'arc-oci-image']);
  });

  it('call for each step the one function of that step, for the kinds that have it', () => {
    const heard = ofKind('Trigger').flatMap((one) => pairsOf(one).map((pair) => [pair, one.metadata.name]));
    const wanted = stepNames.flatMap((step) =>
      steps[step].kinds.map((kind) => [`${kind} ${step}`, functionOf[step]]),
    );
    expect(heard.toSorted()).toEqual(wanted.toSorted());
  });

  it('give every Trigger the type of a step event, its own whole delivery and a Service of its name', () => {
    const services = ofKind('Service').map(({ metadata }) => metadata.name);
    expect(services).toContain('report-dead-letter');
    for (const one of ofKind('Trigger')) {
      const { spec } = trigger.parse(one);
      expect(spec.filters).toContainEqual({ exact: { type: 'cloud.opendefense.arc.step.v1' } });
      expect(services).toContain(spec.subscriber.ref.name);
      expect(spec.delivery.deadLetterSink.ref.name, one.metadata.name).toBe('report-dead-letter');
    }
  });

  it('let a sharded bridge hold the Lease of each shard, and those of sets that run beside it', async () => {
    const folder = 'knative/components/sharded-bridge';
    const patch = z.looseObject({
      spec: z.object({
        replicas: z.int(),
        template: z.object({
          spec: z.object({
            containers: z.tuple([
              z.object({ env: z.array(z.object({ name: z.string(), value: z.string() })) }),
            ]),
          }),
        }),
      }),
    });
    const { spec } = patch.parse(parse(await readFile(`${folder}/watch-bridge.yaml`, 'utf8')));
    const [{ env }] = spec.template.spec.containers;
    const shards = Number(env.find(({ name }) => name === 'ARC_BRIDGE_SHARDS')?.value);
    expect(spec.replicas).toBe(shards);
    const { patches } = z
      .looseObject({ patches: z.array(z.looseObject({ patch: z.string().optional() })) })
      .parse(parse(await readFile(`${folder}/kustomization.yaml`, 'utf8')));
    const operations = z
      .array(z.object({ op: z.string(), path: z.string(), value: z.unknown() }))
      .parse(parse(patches.find((one) => one.patch !== undefined)?.patch ?? ''));
    const names = z.array(z.string()).parse(operations.at(-1)?.value);
    const sets = Array.from({ length: shards }, (_, at) => at + 1);
    const wanted = sets.flatMap((of) => Array.from({ length: of }, (_, index) => leaseName({ index, of })));
    expect(names).toEqual(wanted);
    const base = all.find(({ kind, metadata }) => kind === 'Role' && metadata.name === 'arc-watch-bridge');
    const { rules } = z.object({ rules: z.array(rule) }).parse(base);
    expect(rules[1]?.resourceNames).toEqual([leaseName({ index: 0, of: 1 })]);
  });

  it('leave a function its deadline, and its drain, before anybody else gives up', () => {
    const revision = z.looseObject({
      spec: z.looseObject({ template: z.looseObject({ spec: z.looseObject({ timeoutSeconds: z.int() }) }) }),
    });
    const services = all.filter(({ apiVersion }) => apiVersion === 'serving.knative.dev/v1');
    expect(services.length).toBeGreaterThan(0);
    // queue-proxy tells a function to end when nothing has arrived for so long; the pod's grace is its timeout.
    const quiet = 30;
    expect(times.deadline - quiet).toBeLessThan(times.drain);
    for (const one of services) {
      const { timeoutSeconds } = revision.parse(one).spec.template.spec;
      expect(times.deadline, one.metadata.name).toBeLessThan(timeoutSeconds);
      expect(quiet + times.drain, one.metadata.name).toBeLessThan(timeoutSeconds);
    }
    for (const one of ofKind('Trigger')) {
      const [, seconds] = /^PT(\d+)S$/.exec(trigger.parse(one).spec.delivery.timeout) ?? [];
      expect(times.deadline, one.metadata.name).toBeLessThan(Number(seconds));
    }
  });

  it('grant no wildcard', () => {
    for (const one of ofKind('ClusterRole', 'Role'))
      for (const { apiGroups, resources, verbs } of z.array(rule).parse(one.rules))
        expect([...apiGroups, ...resources, ...verbs], one.metadata.name).not.toContain('*');
  });

  it('grant Secrets by name only, and those of others only in namespaces that were given to ARC', () => {
    const grants = ofKind('ClusterRole', 'Role').flatMap((one) =>
      z
        .array(rule)
        .parse(one.rules)
        .filter(({ resources }) => resources.includes('secrets'))
        .map(({ verbs }) => `${one.kind} ${one.metadata.name}: ${verbs.join(' ')}`),
    );
    expect(grants.toSorted()).toEqual([
      'ClusterRole arc-probe-endpoint-tenant: get',
      'ClusterRole arc-render-secret-tenant: get create delete',
      'ClusterRole arc-track-credentials-tenant: get',
      'Role arc-certificate-issuer: create',
      'Role arc-certificate-issuer: get update',
      'Role arc-track-credentials: create',
      'Role arc-track-credentials: get',
    ]);
  });

  it('bind the roles of namespaces that were given to ARC in these alone, or by a component everywhere', async () => {
    const bound = async (folder: string, kind: string) =>
      (await loadManifests(folder))
        .filter((one) => one.kind === kind)
        .map(({ metadata, roleRef, subjects }) => ({ name: metadata.name, roleRef, subjects }));
    const roles = ofKind('ClusterRole').flatMap(({ metadata: { name } }) =>
      name.endsWith('-tenant') ? name : [],
    );
    expect(roles).toHaveLength(5);
    const given = await bound('knative/tenant', 'RoleBinding');
    expect(
      given
        .map(({ name }) => name)
        .filter((name) => name !== 'arc-workflow')
        .toSorted(),
    ).toEqual(roles.toSorted());
    const everywhere = await bound('knative/components/cluster-wide-rights', 'ClusterRoleBinding');
    expect(everywhere).toEqual(given.filter(({ name }) => name !== 'arc-workflow'));
    for (const { metadata, roleRef } of ofKind('ClusterRoleBinding'))
      expect(z.object({ name: z.string() }).parse(roleRef).name, metadata.name).not.toMatch(/-tenant$/);
  });

  it('write status in its own functions only, and each role is bound to the account of its name', () => {
    const statusWriters = ofKind('ClusterRole').flatMap((one) =>
      z
        .array(rule)
        .parse(one.rules)
        .filter(
          ({ resources, verbs }) =>
            resources.some((name) => name.endsWith('/status')) && verbs.includes('patch'),
        )
        .map(({ resources }) => `${one.metadata.name}: ${resources.join(' ')}`),
    );
    expect(statusWriters.toSorted()).toEqual([
      'arc-probe-endpoint: endpoints/status',
      'arc-render-secret: artifactworkflows/status',
      'arc-report-dead-letter: orders/status artifactworkflows/status endpoints/status',
      'arc-roll-up-order: orders/status',
      'arc-submit-workflow: artifactworkflows/status',
      'arc-submit-workflow: endpoints/status',
      'arc-sync-status: artifactworkflows/status',
      'arc-track-credentials: endpoints/status',
      'arc-watch-bridge: orders/status artifactworkflows/status',
    ]);
  });

  it('have the three roles for people, aggregated', () => {
    const labels = Object.fromEntries(
      ofKind('ClusterRole')
        .filter(({ file }) => file.includes('user-roles'))
        .map(({ metadata }) => [metadata.name, Object.keys((metadata.labels ?? {}) as object)]),
    );
    expect(labels['arc-viewer']).toContain('rbac.authorization.k8s.io/aggregate-to-view');
    expect(labels['arc-user']).toContain('rbac.authorization.k8s.io/aggregate-to-edit');
    expect(labels['arc-operator']).toContain('rbac.authorization.k8s.io/aggregate-to-admin');
  });
});
