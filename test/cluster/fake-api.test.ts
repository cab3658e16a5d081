import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { configMaps, orders, parts, sendPart } from '../contract/api-corpus.ts';
import { describeCluster } from '../fixtures/cluster/cluster.ts';
import { type ControlPlane, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { fakeApiClient } from '../fixtures/http/fake-api-client.ts';
import type { HttpsClient } from '../fixtures/http/https-client.ts';

const namespace = 'contract';
const group = 'contract.example.com';

/** Orders as kube-apiserver serves them: with a status endpoint, whatever is in them. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `orders.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'orders', singular: 'order', kind: 'Order', listKind: 'OrderList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describeCluster('the fake API answers as a real kube-apiserver does', ({ assets, host }) => {
  let plane: ControlPlane;
  let real: HttpsClient;
  beforeAll(async () => {
    plane = await startControlPlane(assets, host);
    real = plane.admin();
    await real.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await real.must('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await eventually('the new kind to be served', 30_000, async () => {
      await real.must('GET', `/apis/${group}/v1/namespaces/${namespace}/orders`);
    });
  }, 120_000);
  afterAll(() => plane.stop());

  describe.each([
    ['ConfigMaps', configMaps(namespace)],
    ['custom resources', orders(namespace, `${group}/v1`)],
  ])('to requests for %s', (_, subject) => {
    it.each(Object.keys(parts))('%s', async (part) => {
      const expected = (await sendPart(part, real, subject)).map(asOurs);
      expect((await sendPart(part, fakeApiClient(new FakeApi()), subject)).map(asOurs)).toEqual(expected);
    });
  });
});

/**
 * Two refusals on which our API server, and so the fake, differ on purpose: Go answers 500 to a create with a resourceVersion, and
 * names its own scheme and source line for an unknown version of a built-in kind.
 */
function asOurs(line: string): string {
  if (line.includes('resourceVersion should not be set on objects to be created')) return 'POST -> refused';
  return /cannot be handled as a|does not match the expected API version/.test(line) ? 'POST -> 400' : line;
}
