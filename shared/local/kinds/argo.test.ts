import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/kubernetes/apiserver';
import { clusterWorkflowTemplates, cronWorkflows, workflows } from './argo.ts';

const workflow = (spec: object, over: object = {}): KubeObject => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'w', namespace: 'ns' },
  spec,
  ...over,
});
const fields = (object: KubeObject, old?: KubeObject) =>
  workflows.hooks?.validate?.(object, old).map((cause) => cause.field);

describe('workflows', () => {
  it('need templates or a reference, not both', () => {
    expect(fields(workflow({}))).toEqual(['spec']);
    expect(fields(workflow({ workflowTemplateRef: { name: 'x' } }))).toEqual([]);
    expect(fields(workflow({ workflowTemplateRef: { name: 'x' }, templates: [] }))).toEqual([
      'spec.templates',
    ]);
  });

  it('are not validated again when only their status changes', () => {
    const old = workflow({ onExit: 'x' });
    expect(fields(workflow({ onExit: 'x' }, { status: { phase: 'Running' } }), old)).toEqual([]);
    expect(fields(workflow({ onExit: 'y' }), old)).toEqual(['spec.onExit', 'spec']);
  });

  it('show phase, progress and message', () => {
    const one = workflow({}, { status: { phase: 'Running', progress: '1/2', message: 'm' } });
    expect(workflows.columns.map((column) => column.value(one))).toEqual(['Running', '1/2', 'm']);
    expect(workflows.columns.map((column) => column.value(workflow({})))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('refuse a bad type by schema', () => {
    expect(
      workflows.schema.safeParse({ spec: { arguments: { parameters: [{ value: 'x' }] } } }).success,
    ).toBe(false);
    expect(workflows.schema.safeParse({ spec: { shutdown: 'Now' } }).success).toBe(false);
  });
});

describe('templates and CronWorkflows', () => {
  it('are validated alike', () => {
    const spec = { templates: [{ name: 't', dag: {} }] };
    expect(clusterWorkflowTemplates.plural).toBe('clusterworkflowtemplates');
    expect(clusterWorkflowTemplates.hooks?.validate?.(workflow(spec), undefined)).toMatchObject([
      { field: 'spec.templates[0].dag' },
    ]);
    expect(cronWorkflows.hooks?.validate?.(workflow({ workflowSpec: spec }), undefined)).toMatchObject([
      { field: 'spec.workflowSpec.templates[0].dag' },
    ]);
  });

  it('show both spellings of a schedule, and refuse what the standalone cannot evaluate', () => {
    const one = workflow({ schedule: '0 * * * *', schedules: ['5 * * * *'] });
    expect(cronWorkflows.columns[0]?.value(one)).toBe('0 * * * *, 5 * * * *');
    const causesOf = (spec: object) => cronWorkflows.hooks?.validate?.(workflow(spec), undefined);
    expect(causesOf({ schedules: ['0 * * * *'], when: '' })).toEqual([]);
    expect(causesOf({ schedules: ['0 * * * *'], when: '{{= cronworkflow.failed < 3 }}' })).toEqual([]);
    expect(causesOf({ schedules: ['x'], when: '1 == 1' })).toMatchObject([
      { field: 'spec.when' },
      { field: 'spec.schedules', message: expect.stringContaining('"x"') },
    ]);
  });
});
