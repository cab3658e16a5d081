import { describe, expect, it } from 'vitest';
import { orders, workflows } from '#shared/domain';
import { namespace, order } from '../../shared/domain/testing/objects.ts';
import {
  fresh,
  functions,
  prepareForOrders,
  startApi,
  startFunctions,
  startWatching,
} from '../fixtures/standalone/parts.ts';

describe('the trace of an event', () => {
  it('is on every API request that it caused, and on the Workflow in the end', async () => {
    const api = await startApi();
    const admin = api.clientOf('admin');
    await prepareForOrders(admin);
    const { sink } = await startFunctions(api);
    startWatching(api, sink);

    await admin.create(orders, fresh(order('one', ['a:1'])));
    const started = async () => (await admin.list(workflows, { namespace })).items;
    await expect
      .poll(async () => (await started()).length, { timeout: 15_000, message: 'the Workflow' })
      .toBe(1);

    const ofFunctions = api.asked.filter(({ by }) => by in functions);
    for (const { by, what, traceparent } of ofFunctions)
      expect(traceparent, `${by}: ${what}`).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    const ofOthers = api.asked.filter(({ by }) => !(by in functions));
    expect(ofOthers.filter(({ traceparent }) => traceparent !== null)).toEqual([]);

    const creation = ofFunctions.find(({ what }) => what === `POST ${workflowsPath}`);
    const annotations = (await started()).map(({ metadata }) => metadata.annotations);
    expect(annotations).toEqual([
      expect.objectContaining({ 'arc.opendefense.cloud/traceparent': creation?.traceparent }),
    ]);
    // It began with a look at the ArtifactWorkflow, under the same trace.
    const together = ofFunctions.filter(({ traceparent }) => traceparent === creation?.traceparent);
    expect(together.map(({ by, what }) => `${by} ${what.split(' ')[0]}`)).toEqual(
      expect.arrayContaining(['submit-workflow GET', 'submit-workflow PATCH', 'submit-workflow POST']),
    );
  });
});

const workflowsPath = `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/workflows`;
