import { afterAll, beforeAll, expect, it } from 'vitest';
import { settingsMap } from '#shared/conduit/function-kit';
import { artifactWorkflows, configMaps, type Order, orders } from '#shared/domain';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type Conduit, startConduit } from '../fixtures/standalone/conduit.ts';

let conduit: Conduit;
beforeAll(async () => {
  conduit = await startConduit();
  await conduit.typeOf('light', 'test/light:1');
});
afterAll(() => conduit?.close());

const setting = 'limits.artifactWorkflowsPerNamespace';
const limitTo = (most: string) =>
  conduit.api.mergePatch(configMaps, settingsMap, { data: { [setting]: most } });

it('an Order whose ArtifactWorkflows do not all fit says so, and goes on when there is room', async () => {
  const tenant = await conduit.tenant('full');
  await limitTo('20');
  await eventually('the limit to count', 20_000, async () => {
    const { apiVersion, kind } = artifactWorkflows;
    const one = { apiVersion, kind, metadata: { namespace: 'full', name: 'probe' } };
    await limitTo('0');
    const probe = { ...one, spec: { workflowTemplateRef: { name: 'none' }, parameters: [] } };
    await expect(conduit.api.create(artifactWorkflows, probe)).rejects.toThrow('exceeded quota');
  });
  await limitTo('20');
  const artifacts = Array.from({ length: 50 }, (_, index) => ({
    type: 'light',
    spec: { image: `team/app-${index}:1.0` },
  }));
  await tenant.order('order', artifacts);

  const isHeld = ({ status }: Order) =>
    status?.counts?.succeeded === 20 &&
    status.conditions?.find(({ type }) => type === 'Stalled')?.status === 'True';
  const { status } = await tenant.when('order', 'twenty to arrive, and thirty to be held', isHeld, 20);
  expect(status?.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({
    reason: 'QuotaExceeded',
  });
  const resource = 'count/artifactworkflows.arc.opendefense.cloud';
  expect(status?.message).toContain(
    `exceeded quota: arc-settings, requested: ${resource}=1, used: ${resource}=20, limited: ${resource}=20`,
  );
  expect(status?.counts).toMatchObject({ total: 50, succeeded: 20, invalid: 30 });

  // What is there goes on being looked after: the Order's own finalizer, notes and status are not limited.
  await limitTo('60');
  await tenant.patch(orders, 'order', {
    metadata: { annotations: { 'arc.opendefense.cloud/retry-at': '1' } },
  });
  await tenant.ended('order', 'Succeeded');
});
