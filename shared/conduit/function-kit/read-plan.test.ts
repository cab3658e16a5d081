import { describe, expect, it } from 'vitest';
import { endpoint, ociTemplate, ociType, order } from '../../domain/testing/objects.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { readPlan } from './read-plan.ts';

const one = order('order', ['team/app:1', 'team/web:1']);
const inputs = [endpoint('source'), endpoint('destination'), ociType()];

describe('readPlan', () => {
  it('plans from the objects that the Order refers to, reading each template once', async () => {
    const api = new FakeApi([one, ...inputs, ociTemplate()]);
    const reads: string[] = [];
    api.before = ({ verb, resource, name }) => void reads.push(`${verb} ${resource} ${name}`.trim());
    const plan = await readPlan(contextOf(api), one);
    expect(plan.artifacts.map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(reads.filter((each) => each.startsWith('get'))).toEqual([
      'get configmaps arc-settings',
      'get clusterworkflowtemplates arc-oci-image',
    ]);
  });

  it('reports a missing template', async () => {
    const [artifact] = (await readPlan(contextOf(new FakeApi([one, ...inputs])), one)).artifacts;
    expect(artifact).toMatchObject({
      state: 'held',
      hold: {
        reason: 'TemplateMissing',
        message: expect.stringContaining(
          'ClusterWorkflowTemplate "arc-oci-image" of artifact type "oci" not found',
        ),
      },
    });
  });
});
