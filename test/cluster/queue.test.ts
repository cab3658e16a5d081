import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type ArtifactWorkflow, isQueued, type Workflow, workflowFor } from '#shared/domain';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { artifactWorkflow } from '../../shared/domain/testing/objects.ts';
import { argoDefinitions } from '../fixtures/cluster/argo-definitions.ts';
import { type ControlPlane, hostAddress, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { type Program, start } from '../fixtures/program.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
const host = hostAddress() ?? '';
const [found] = await Promise.allSettled([access(path.join(assets, 'workflow-controller'))]);
const isThere = assets !== '' && host !== '' && found.status === 'fulfilled';
if (!isThere) console.warn("no workflow-controller in KUBEBUILDER_ASSETS: Argo's own labels are left out");

/** knative/components/kueue: what Kueue reads is a label of the pods that Argo's own controller makes. */
describe.skipIf(!isThere)('a Workflow with a queue, carried out by Argo', () => {
  let plane: ControlPlane;
  let argo: Program | undefined;
  let folder: string;

  beforeAll(async () => {
    plane = await startControlPlane(assets, host);
    // kustomize takes relative paths only.
    folder = await mkdtemp('.arc-queue-');
    await writeFile(
      path.join(folder, 'kustomization.yaml'),
      stringify({
        resources: ['../knative/workflow-templates'],
        components: ['../knative/components/kueue'],
      }),
    );
    await plane.kubectl(['create', 'namespace', 'argo']);
    await plane.kubectl(['apply', '-f', '-'], { input: argoDefinitions });
    const settings = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'argo' },
    };
    const data = { metricsConfig: 'enabled: false\n', workflowRestrictions: 'templateReferencing: Strict\n' };
    await plane.kubectl(['apply', '-f', '-'], { input: JSON.stringify({ ...settings, data }) });
    await plane.kubectl(['create', 'serviceaccount', 'arc-workflow', '-n', 'default']);
    await eventually('the kinds of Argo to be served', 30_000, async () => {
      await plane.kubectl(['apply', '-k', folder]);
    });
    argo = start(
      path.join(assets, 'workflow-controller'),
      [
        ...['--namespace', 'argo', '--configmap', 'settings', '--executor-image', 'argoexec:none'],
        ...['--kubeconfig', plane.env.KUBECONFIG ?? ''],
      ],
      { ...plane.env, LEADER_ELECTION_DISABLE: 'true' },
    );
  }, 180_000);
  afterAll(async () => {
    await argo?.stop();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** Submits it as submit-workflow does, and waits for the labels of its one pod. */
  async function podLabels(name: string, spec: Partial<ArtifactWorkflow['spec']>) {
    const made = artifactWorkflow(name);
    const object = workflowFor({ ...made, spec: { ...made.spec, ...spec } }, 1);
    // Nobody is there that it could belong to.
    const { ownerReferences: _owners, ...metadata } = { ...object.metadata, namespace: 'default' };
    await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify({ ...object, metadata }) });
    let labels: Record<string, string> = {};
    await eventually(`a pod of ${metadata.name}`, 60_000, async () => {
      argo?.mustRun();
      const selector = `workflows.argoproj.io/workflow=${metadata.name}`;
      const { stdout } = await plane.kubectl(['get', 'pods', '-n', 'default', '-l', selector, '-o', 'json']);
      const { items } = JSON.parse(stdout) as { items: { metadata: { labels: Record<string, string> } }[] };
      expect(items, argo?.output.stderr.slice(-2_000)).toHaveLength(1);
      labels = items[0]?.metadata.labels ?? {};
    });
    return labels;
  }

  it('has the queue on its pod', async () => {
    expect(await podLabels('queued', { queueName: 'transfers' })).toMatchObject({
      'kueue.x-k8s.io/queue-name': 'transfers',
    });
  }, 90_000);

  it('is Queued while its pod waits', async () => {
    await eventually('Argo to say that the pod waits', 60_000, async () => {
      const selector = 'kueue.x-k8s.io/queue-name=transfers';
      const { stdout } = await plane.kubectl([
        'get',
        'workflows',
        '-n',
        'default',
        '-l',
        selector,
        '-o',
        'json',
      ]);
      const { items } = JSON.parse(stdout) as { items: Workflow[] };
      expect(items.map(isQueued), stdout).toEqual([true]);
    });
  }, 90_000);

  it('has none where none is named', async () => {
    const labels = await podLabels('plain', {});
    expect(labels['kueue.x-k8s.io/queue-name']).toBe('');
  }, 90_000);
});
