import { glob, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { etcdRequestBytes } from '#shared/base/meta';
import { parseDuration } from '#shared/domain';
import { loadManifests, manifestFiles } from '#shared/local';
import { settings as consoleSettings } from '../../scripts/console/settings.ts';
import { workerOptions } from '../../scripts/standalone/worker-program.ts';

const security = z.looseObject({
  runAsNonRoot: z.boolean().optional(),
  seccompProfile: z.object({ type: z.string() }).optional(),
});
const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  securityContext: security.extend({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
});
const pod = z.looseObject({
  serviceAccountName: z.string(),
  securityContext: security.optional(),
  containers: z.tuple([container]),
});
const metadata = z.looseObject({
  name: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const document = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata });
const withPods = z.looseObject({
  spec: z.looseObject({ template: z.looseObject({ metadata: metadata.partial(), spec: pod }) }),
});
const workflowTemplate = z.looseObject({
  spec: z.looseObject({
    serviceAccountName: z.string(),
    securityContext: security,
    templates: z.tuple([z.looseObject({ container: container.partial({ name: true }) })]),
  }),
});
const mount = z.looseObject({ name: z.string(), readOnly: z.boolean().optional() });
const volume = z.looseObject({ name: z.string(), secret: z.unknown().optional() });
const attestingTemplate = z.looseObject({
  spec: z.looseObject({
    volumes: z.array(volume),
    templates: z.tuple([z.looseObject({ container: z.looseObject({ volumeMounts: z.array(mount) }) })]),
  }),
});
const step = container.extend({
  dependencies: z.array(z.string()).optional(),
  volumeMounts: z.array(mount),
});
const quarantineTemplate = z.looseObject({
  spec: z.looseObject({
    securityContext: security,
    podSpecPatch: z.string(),
    templates: z.tuple([
      z.looseObject({
        metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
        containerSet: z.looseObject({ containers: z.tuple([step, step, step]) }),
      }),
    ]),
  }),
});
/** What Argo lays over the pod of a quarantine. */
const patch = z.looseObject({
  containers: z.array(z.looseObject({ name: z.string() })),
  volumes: z.array(volume),
});
const binding = z.looseObject({ subjects: z.array(z.looseObject({ name: z.string() })) });
type Document = z.infer<typeof document>;

/** As `readConfig` has it: an empty variable is not set. */
function set(data: unknown): Record<string, string> {
  const all = z.record(z.string(), z.string()).parse(data);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

const isFunction = ({ apiVersion }: Document) => apiVersion === 'serving.knative.dev/v1';
const hasPods = (one: Document) => ['Deployment', 'StatefulSet'].includes(one.kind) || isFunction(one);

describe('every pod', () => {
  let all: Document[] = [];
  beforeAll(async () => {
    const files = (
      await Promise.all(['knative/base', 'knative/workflow-templates'].map(manifestFiles))
    ).flat();
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    all = texts.flatMap((text) => parseAllDocuments(text).map((each) => document.parse(each.toJS())));
  });

  it('is of one image, fits the restricted standard, and says what it needs', () => {
    const found = all.filter(hasPods).map((one) => ({ one, spec: withPods.parse(one).spec.template.spec }));
    expect(found.length).toBeGreaterThan(9);
    for (const { one, spec } of found) {
      const [{ image, command, securityContext }] = spec.containers;
      const { name } = one.metadata;
      expect(spec.serviceAccountName, name).toBe(name);
      for (const field of ['runAsNonRoot', 'seccompProfile'] as const)
        expect(spec.securityContext?.[field] ?? securityContext[field], `${name}: ${field}`).toBeTruthy();
      if (name === 'etcd') continue;
      expect(image).toBe('artifact-conduit:v0.1.0');
      expect(command).toEqual(['node', `/app/${name}.mjs`]);
    }
  });

  it('has an etcd that takes the largest object the api-server stores', () => {
    const etcd = all.find(({ kind, metadata: { name } }) => kind === 'StatefulSet' && name === 'etcd');
    const [{ command }] = withPods.parse(etcd).spec.template.spec.containers;
    expect(command).toContain(`--max-request-bytes=${etcdRequestBytes}`);
  });

  it('runs a Workflow in one pod of the same image, as restricted', () => {
    const templates = all.filter(({ kind }) => kind === 'ClusterWorkflowTemplate');
    expect(templates.length).toBeGreaterThan(0);
    for (const template of templates) {
      const { spec } = workflowTemplate.parse(template);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(spec.templates[0].container).toMatchObject({
        image: 'artifact-conduit:v0.1.0',
        command: ['node', ...workerOptions, '/app/transfer-worker.mjs'],
      });
    }
  });

  it('gives the worker the key of attestations, wherever it moves what has manifests', async () => {
    const texts = await Promise.all(
      ['bundle', 'oci-image'].map((name) => readFile(`knative/workflow-templates/${name}.yaml`, 'utf8')),
    );
    const { podSpecPatch, templates } = quarantineTemplate.parse(
      parse(await readFile('knative/components/quarantine/template.yaml', 'utf8')),
    ).spec;
    const inPods = [
      ...texts.map((text) => {
        const { spec } = attestingTemplate.parse(parse(text));
        return { volumes: spec.volumes, mounts: spec.templates[0].container.volumeMounts };
      }),
      {
        volumes: patch.parse(parse(podSpecPatch)).volumes,
        mounts: templates[0].containerSet.containers[2].volumeMounts,
      },
    ];
    for (const { volumes, mounts } of inPods) {
      const secret = { secretName: 'arc-attestation-key', optional: true };
      expect(volumes).toContainEqual({ name: 'attestation', secret });
      expect(mounts).toContainEqual({
        name: 'attestation',
        mountPath: '/etc/arc/attestation',
        readOnly: true,
      });
    }
    // A template that is new is one of those above, or one whose artifacts are not attested.
    const names = all
      .filter(({ kind }) => kind === 'ClusterWorkflowTemplate')
      .map(({ metadata: { name } }) => name);
    expect(names.toSorted()).toEqual(['arc-bundle', 'arc-file', 'arc-oci-image']);
  });

  it('gives a scanner in quarantine no Secret, no token, and nothing to change', async () => {
    const text = await readFile('knative/components/quarantine/template.yaml', 'utf8');
    const template = quarantineTemplate.parse(parse(text));
    const { securityContext, podSpecPatch, templates } = template.spec;
    const { containers, volumes } = patch.parse(parse(podSpecPatch));
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    const [fetch, scan, main] = templates[0].containerSet.containers;
    // Nor an identity of a cloud, which webhooks give to all containers of a pod but these.
    for (const cloud of ['eks.amazonaws.com', 'azure.workload.identity', 'cloud.google.com'])
      expect(templates[0].metadata.annotations[`${cloud}/skip-containers`]).toBe('scan');
    for (const worker of [fetch, main]) expect(worker.image).toBe('artifact-conduit:v0.1.0');
    expect([fetch, scan, main].map(({ dependencies = [] }) => dependencies)).toEqual([
      [],
      ['fetch'],
      ['scan'],
    ]);
    const secrets = volumes.filter(({ secret }) => secret !== undefined).map(({ name }) => name);
    expect(secrets.length).toBeGreaterThan(0);
    const mounts = scan.volumeMounts.map(({ name, readOnly = false }) => ({ name, readOnly }));
    expect(mounts).toEqual([
      { name: 'quarantine', readOnly: true },
      { name: 'reports', readOnly: false },
      { name: 'scratch', readOnly: false },
    ]);
    // What is between the worker's steps is out of its reach.
    expect(main.volumeMounts.map(({ name }) => name)).not.toContain('scratch');
    // Argo itself adds only volumes that every step mounts (addVolumeReferences of its workflowpod.go).
    const mounted = [fetch, scan, main].flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(volumes.map(({ name }) => name).toSorted()).toEqual(
      [...new Set([...mounted, 'no-token'])].toSorted(),
    );
    expect(containers).toContainEqual({
      name: 'scan',
      volumeMounts: [
        { name: 'no-token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
      ],
    });
  });

  it('gives the console no token and no right, and settings that its program takes', async () => {
    const own = await loadManifests('knative/components/console');
    const of = (kind: string) => own.find((one) => one.kind === kind);
    expect(of('ServiceAccount')).toMatchObject({ automountServiceAccountToken: false });
    const { spec } = withPods.parse(of('Deployment')).spec.template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(spec.containers[0].command).toEqual(['node', '/app/console.mjs']);
    expect(consoleSettings.parse(set(of('ConfigMap')?.data))).toBeDefined();
    const bound: string[] = [];
    for await (const file of glob('knative/**/*.yaml'))
      for (const each of parseAllDocuments(await readFile(file, 'utf8'))) {
        const { data } = binding.safeParse(each.toJS());
        bound.push(...(data?.subjects ?? []).map(({ name }) => name));
      }
    expect(bound.length).toBeGreaterThan(10);
    expect(bound).not.toContain('console');
  });

  it('has a bound, where it scales', () => {
    for (const one of all.filter(isFunction)) {
      const { annotations = {} } = withPods.parse(one).spec.template.metadata;
      expect(Number(annotations['autoscaling.knative.dev/max-scale']), one.metadata.name).toBeGreaterThan(0);
    }
  });

  it('is gone within five minutes of its last event, where it scales', () => {
    // Of Knative: its window of 60 s and its grace of 30 s. Of the bridge: the last look at credentials, at most 75 s after the last Order.
    const others = 60 + 30 + 75;
    for (const one of all.filter(isFunction)) {
      const { annotations = {} } = withPods.parse(one).spec.template.metadata;
      const { name } = one.metadata;
      expect(annotations['autoscaling.knative.dev/min-scale'], name).toBe('0');
      expect(annotations, name).not.toHaveProperty([
        'autoscaling.knative.dev/scale-to-zero-pod-retention-period',
      ]);
      const delay = parseDuration(annotations['autoscaling.knative.dev/scale-down-delay'] ?? '') ?? 0;
      expect(delay / 1000 + others, name).toBeLessThan(300);
    }
  });

  it('is drained one pod at a time, where there can be several', () => {
    const budgets = all
      .filter(({ kind }) => kind === 'PodDisruptionBudget')
      .map(({ metadata: { name } }) => name);
    const several = all.filter(hasPods).map(({ metadata: { name } }) => name);
    expect(budgets.toSorted()).toEqual(several.toSorted());
  });
});
