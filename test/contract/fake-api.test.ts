import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { fakeApiClient } from '../fixtures/http/fake-api-client.ts';
import { type HttpsClient, httpsClient } from '../fixtures/http/https-client.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';
import { configMaps, orders, parts, sendPart } from './api-corpus.ts';

const namespace = 'contract';

describe('the fake API answers as our API server does', () => {
  let server: TestApi;
  let real: HttpsClient;
  beforeAll(async () => {
    server = await startApi();
    real = httpsClient(server.url, { ca: server.ca }, { authorization: `Bearer ${server.token}` });
    await real.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  });
  afterAll(async () => {
    real.close();
    await server[Symbol.asyncDispose]();
  });

  describe.each([
    ['ConfigMaps', configMaps(namespace)],
    ['Orders', orders(namespace)],
  ])('to requests for %s', (_, subject) => {
    it.each(Object.keys(parts))('%s', async (part) => {
      const expected = await sendPart(part, real, subject);
      expect(await sendPart(part, fakeApiClient(new FakeApi()), subject)).toEqual(expected);
    });
  });
});
