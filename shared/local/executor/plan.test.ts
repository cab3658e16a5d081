import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type Plan, planWorkflow } from './plan.ts';
import type { Template, Workflow, WorkflowSpec } from './workflow.ts';

const template: Template = {
  name: 't',
  container: {
    image: 'i',
    args: ['{{workflow.parameters.a}}'],
    volumeMounts: [{ name: 'v', mountPath: '/tmp/arc' }],
  },
};
const workflow = (spec: WorkflowSpec): Workflow => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'w', namespace: 'ns', uid: 'u' },
  spec,
});
const args = (...pairs: [string, string?][]) => ({
  parameters: pairs.map(([name, value]) => ({ name, ...(value !== undefined && { value }) })),
});
function planned(spec: WorkflowSpec, referred?: WorkflowSpec): Plan {
  const result = planWorkflow(workflow(spec), referred);
  if (!result.ok) throw new Error(result.message);
  return result.plan;
}
function refused(spec: WorkflowSpec, referred?: WorkflowSpec): string {
  const result = planWorkflow(workflow(spec), referred);
  return result.ok ? 'ok' : `${result.phase}: ${result.message}`;
}

describe('planWorkflow', () => {
  it('lays the Workflow over its template, arguments and volumes by name', () => {
    const referred: WorkflowSpec = {
      entrypoint: 't',
      arguments: args(['a', 'default'], ['s']),
      volumes: [
        { name: 'v', secret: { secretName: '{{workflow.parameters.s}}' } },
        { name: 'w', emptyDir: {} },
      ],
      templates: [template],
    };
    const ref = { workflowTemplateRef: { name: 'x' } };
    const plan = planned(
      { ...ref, arguments: args(['s', 'mine']), volumes: [{ name: 'w', secret: {} }] },
      referred,
    );
    expect(plan.containers).toEqual([
      {
        name: 'main',
        image: 'i',
        args: ['default'],
        env: [],
        mounts: [{ name: 'v', mountPath: '/tmp/arc' }],
      },
    ]);
    expect(plan.volumes).toEqual([
      { name: 'v', secret: { secretName: 'mine' } },
      { name: 'w', secret: {} },
    ]);
  });

  it('gives the pod the volumes that podSpecPatch adds', () => {
    const spec = { entrypoint: 't', arguments: args(['a', '1'], ['s', 'mine']), templates: [template] };
    const podSpecPatch = 'volumes: [{ name: v, secret: { secretName: "{{workflow.parameters.s}}" } }]';
    expect(planned({ ...spec, podSpecPatch }).volumes).toEqual([
      { name: 'v', secret: { secretName: 'mine' } },
    ]);
    expect(planned({ ...spec, podSpecPatch: '' }).volumes).toEqual([]);
    expect(refused({ ...spec, podSpecPatch: '{' })).toMatch(/^Failed: invalid spec: spec\.podSpecPatch: /);
  });

  it('never looks at a value again', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = `{{workflow.name}}${text}`;
        const plan = planned({ entrypoint: 't', templates: [template], arguments: args(['a', value]) });
        expect(plan.containers[0]?.args).toEqual([value]);
      }),
    );
  });

  it('takes inputs from arguments, their own value, or their default', () => {
    const inputs = {
      parameters: [{ name: 'a' }, { name: 'b', value: 'own' }, { name: 'c', default: 'fallback' }],
    };
    const text =
      '{{inputs.parameters.a}} {{ inputs.parameters.b }} {{inputs.parameters.c}} {{workflow.namespace}}';
    const one: Template = { name: 't', inputs, container: { image: 'i', args: [text] } };
    const plan = planned({ entrypoint: 't', templates: [one], arguments: args(['a', '1']) });
    expect(plan.containers[0]?.args).toEqual(['1 own fallback ns']);
  });

  it('orders a containerSet by dependencies', () => {
    const containers = [
      { name: 'c', image: 'i', dependencies: ['a', 'b'] },
      { name: 'b', image: 'i', dependencies: ['a'] },
      { name: 'a', image: 'i' },
    ];
    const plan = planned({ entrypoint: 't', templates: [{ name: 't', containerSet: { containers } }] });
    expect(plan.containers.map((one) => one.name)).toEqual(['a', 'b', 'c']);
  });

  it('reads retries and deadlines', () => {
    const one: Template = {
      ...template,
      activeDeadlineSeconds: '5',
      retryStrategy: { limit: '2', retryPolicy: 'Always' },
    };
    const plan = planned({
      entrypoint: 't',
      templates: [one],
      arguments: args(['a', '']),
      activeDeadlineSeconds: 9,
    });
    expect(plan).toMatchObject({
      deadlineSeconds: 9,
      attemptSeconds: 5,
      retry: { limit: 2, phases: ['Failed', 'Error'] },
    });
    expect(
      planned({ entrypoint: 't', templates: [template], arguments: args(['a', '']) }).retry,
    ).toBeUndefined();
  });

  const cycle = [
    { name: 'a', image: 'i', dependencies: ['b'] },
    { name: 'b', image: 'i', dependencies: ['a'] },
  ];
  it.each<[WorkflowSpec, string]>([
    [
      { entrypoint: 't', templates: [template], arguments: args(['a']) },
      'spec.arguments.a.value is required',
    ],
    [{ entrypoint: 't', templates: [template] }, 'templates.t: failed to resolve {{workflow.parameters.a}}'],
    [{ entrypoint: 'x', templates: [template] }, "template name 'x' undefined"],
    [{ templates: [template] }, 'spec.entrypoint is required'],
    [
      { entrypoint: 't', templates: [{ ...template, inputs: { parameters: [{ name: 'b' }] } }] },
      'templates.t inputs.parameters.b was not supplied',
    ],
    [
      { entrypoint: 't', templates: [{ name: 't', containerSet: { containers: cycle } }] },
      'templates.t.containerSet: dependencies have a cycle or name nothing',
    ],
  ])('fails as Argo does: %j', (spec, message) =>
    expect(refused(spec)).toBe(`Failed: invalid spec: ${message}`),
  );
});
