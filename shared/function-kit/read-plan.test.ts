import { describe, expect, it } from 'vitest';
import { endpoint, ociTemplate, ociType, order } from '../../test/fixtures/arc-objects.ts';
import { FakeKube } from '../../test/fixtures/fake-kube.ts';
import { contextOf } from '../../test/fixtures/handler-context.ts';
import { readPlan } from './read-plan.ts';

const one = order('order', ['team/app:1', 'team/web:1']);
const inputs = [endpoint('source'), endpoint('destination'), ociType()];

describe('readPlan', () => {
  it('plans from what the Order refers to, looking at each template once', async () => {
    const api = new FakeKube(one, ...inputs, ociTemplate());
    const looked: string[] = [];
    api.before = (verb, kind, name) => void looked.push(`${verb} ${kind} ${name}`.trim());
    const plan = await readPlan(contextOf(api), one);
    expect(plan.artifacts.map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(looked.filter((each) => each.startsWith('get'))).toEqual([
      'get ClusterWorkflowTemplate arc-oci-image',
    ]);
  });

  it('tells of a template that is not there', async () => {
    const [artifact] = (await readPlan(contextOf(new FakeKube(one, ...inputs)), one)).artifacts;
    expect(artifact).toMatchObject({
      state: 'invalid',
      message: 'ClusterWorkflowTemplate "arc-oci-image" of artifact type "oci" not found',
    });
  });
});
