import { describe, expect, it } from 'vitest';
import { artifactType, endpoint, ociTemplate, ociType, order } from '../../domain/testing/objects.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { readPlan, readPlanInputs } from './read-plan.ts';

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
      'get endpoints destination',
      'get endpoints source',
      'get artifacttypes oci',
      'get clusterworkflowtemplates arc-oci-image',
    ]);
  });

  it('reads only the Endpoints and types that the Order names, and keeps no annotations', async () => {
    const others = Array.from({ length: 50 }, (_, at) => [endpoint(`e${at}`), artifactType(`t${at}`)]).flat();
    const fat = endpoint('source');
    fat.metadata.annotations = { filler: 'x'.repeat(1000) };
    const api = new FakeApi([one, ...inputs.slice(1), fat, ociTemplate(), ...others]);
    const reads: string[] = [];
    api.before = ({ verb, resource }) => void reads.push(`${verb} ${resource}`);
    const read = await readPlanInputs(contextOf(api), one, {});
    expect(reads.filter((each) => /list (endpoints|artifacttypes)/.test(each))).toEqual([]);
    expect(read.endpoints.map(({ metadata }) => metadata.name)).toEqual(['destination', 'source']);
    expect(JSON.stringify(read)).not.toContain('filler');
  });

  it('takes names that no object can have for names of missing objects', async () => {
    const odd = order('order', ['a:1']);
    odd.spec.artifacts = ['', '..', 'a/b', 'A'].map((name) => ({ type: name, srcRef: { name }, spec: {} }));
    const plan = await readPlan(contextOf(new FakeApi([odd, ...inputs, ociTemplate()])), odd);
    expect(new Set(plan.artifacts.map(({ state }) => state))).toEqual(new Set(['held']));
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
