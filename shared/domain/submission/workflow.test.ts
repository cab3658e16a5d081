import { describe, expect, it } from 'vitest';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { absentSecretName, labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { image, inputs, order, stored } from '../testing/plan-objects.ts';
import { unreleased, workflowFor } from './workflow.ts';

function made(spec: Partial<ArtifactWorkflow['spec']> = {}): ArtifactWorkflow {
  const [planned] = planOrder(order([image('a')]), inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  const workflow = stored(planned.workflow, { configSecret: { name: 'config' } });
  return { ...workflow, spec: { ...workflow.spec, ...spec } };
}

describe('workflowFor', () => {
  it('sets only what Argo allows beside a template reference in its strict mode', () => {
    const { spec } = unreleased(workflowFor(made(), 1) as Workflow);
    expect(Object.keys(spec).sort()).toEqual(['arguments', 'suspend', 'ttlStrategy', 'workflowTemplateRef']);
  });

  it('hands over the parameters and the names of the Secrets, each once', () => {
    const parameters = [
      { name: 'configSecretName', value: 'mine' },
      { name: 'specImage', value: 'a:1.0' },
    ];
    const { spec } = workflowFor(made({ parameters }), 1) as Workflow;
    expect(spec.arguments?.parameters).toEqual([
      { name: 'specImage', value: 'a:1.0' },
      { name: 'configSecretName', value: 'config' },
      { name: 'srcSecretName', value: 'login' },
      { name: 'dstSecretName', value: absentSecretName },
    ]);
  });

  it('is owned and labelled, and the same every time', () => {
    const workflow = made({ queueName: 'slow' });
    const object = workflowFor(workflow, 2, { instanceId: 'blue' });
    expect(object).toEqual(workflowFor(structuredClone(workflow), 2, { instanceId: 'blue' }));
    expect(object.metadata.name).toBe(`${workflow.metadata.name}-2`);
    expect(object.metadata.ownerReferences?.[0]).toMatchObject({
      kind: 'ArtifactWorkflow',
      uid: workflow.metadata.uid,
    });
    expect(object.metadata.labels).toMatchObject({
      [labels.artifactWorkflow]: workflow.metadata.name,
      [labels.attempt]: '2',
      [labels.order]: 'order-uid',
      [labels.queue]: 'slow',
      [labels.argoInstance]: 'blue',
    });
  });

  it('is a CronWorkflow that never doubles a run where there is a schedule', () => {
    const cron = { schedules: ['@daily'], timezone: 'Europe/Berlin' };
    const object = workflowFor(made({ cron, suspend: true }), 1) as CronWorkflow;
    expect(object.kind).toBe('CronWorkflow');
    expect(object.metadata.name.length).toBeLessThanOrEqual(52);
    expect(object.spec).toMatchObject({ ...cron, concurrencyPolicy: 'Forbid', suspend: true });
    expect(object.spec.workflowMetadata?.labels).toHaveProperty([labels.artifactWorkflow]);
  });
});
