import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { conduitNamespace, configMaps, type Endpoint, endpoints, settingsName } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactType, endpoint, secret } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const start = new Date('2026-01-02T00:00:00Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

/** A registry without credentials that counts its requests, and answers this status. */
async function registry() {
  const state = { asked: 0, status: 200 };
  const server = createServer((_, response) => {
    state.asked += 1;
    response.writeHead(state.status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { state, url };
}

function probe(api: FakeApi, one: Endpoint, now = start, allowed = '127.0.0.0/8'): Promise<undefined> {
  const settings = { metadata: { name: settingsName, namespace: conduitNamespace } };
  const data = { 'probes.allowedRanges': allowed };
  api.put({ apiVersion: configMaps.apiVersion, kind: configMaps.kind, ...settings, data });
  return handle(contextOf(api, now), eventOf(one));
}

const conditionsOf = (api: FakeApi, one: Endpoint) =>
  Object.fromEntries(
    (api.read(endpoints, one.metadata)?.status?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );

describe('probe-endpoint', () => {
  it('says that an Endpoint can be used', async () => {
    const { url } = await registry();
    const one = endpoint('mirror', { remoteURL: url });
    const api = new FakeApi([one]);
    await probe(api, one);
    expect(conditionsOf(api, one)).toEqual({
      Validated: 'True Valid',
      Reachable: 'True Reachable',
      Authenticated: 'Unknown NotExercised',
      Ready: 'True Ready',
      Stalled: 'False Ready',
    });
    expect(api.read(endpoints, one.metadata)?.status).toMatchObject({
      lastProbeTime: '2026-01-02T00:00:00Z',
      probed: { generation: 1 },
    });
  });

  it('does not ask a server for an Endpoint whose Secret is missing, or holds nothing', async () => {
    const { url, state } = await registry();
    const one = endpoint('mirror', { remoteURL: url, secretRef: { name: 'login' } });
    const api = new FakeApi([one]);
    await probe(api, one);
    expect(conditionsOf(api, one)).toMatchObject({
      Validated: 'False SecretNotFound',
      Reachable: 'Unknown NotProbed',
      Ready: 'False SecretNotFound',
      Stalled: 'True SecretNotFound',
    });
    api.put(secret('login', { other: 'x' }));
    await probe(api, one, later(3600));
    expect(conditionsOf(api, one)).toMatchObject({ Ready: 'False SecretInvalid' });
    expect(state.asked).toBe(0);
  });

  it('says that the type is not there whose policy binds it, or has none, and asks no server', async () => {
    const { url, state } = await registry();
    const one = endpoint('mirror', { remoteURL: url, policyRef: { name: 'gate' } });
    const api = new FakeApi([one]);
    await probe(api, one);
    expect(conditionsOf(api, one)).toMatchObject({
      Validated: 'False PolicyNotFound',
      Ready: 'False PolicyNotFound',
      Stalled: 'True PolicyNotFound',
    });
    api.put(artifactType('gate'));
    await probe(api, one, later(3600));
    expect(conditionsOf(api, one)).toMatchObject({ Ready: 'False PolicyNotFound' });
    expect(state.asked).toBe(0);
    api.put(artifactType('gate', { parameters: [{ name: 'policy', value: '{"maxBytes":5}' }] }));
    await probe(api, one, later(7200));
    expect(conditionsOf(api, one)).toMatchObject({ Validated: 'True Valid' });
  });

  it('refuses addresses that the operator has not opened', async () => {
    const { url, state } = await registry();
    const one = endpoint('mirror', { remoteURL: url });
    const api = new FakeApi([one]);
    await probe(api, one, start, '');
    expect(conditionsOf(api, one)).toMatchObject({
      Reachable: 'False TargetDenied',
      Ready: 'False TargetDenied',
    });
    expect(state.asked).toBe(0);
    // It is opened while the function runs.
    await probe(api, one, later(120));
    expect(conditionsOf(api, one)).toMatchObject({ Ready: 'True Ready' });
  });

  it('probes once for a change of spec, credentials or the annotation, and not for other events', async () => {
    const { url, state } = await registry();
    const one = endpoint('mirror', { remoteURL: url });
    const api = new FakeApi([one]);
    await probe(api, one);
    await probe(api, one, later(5));
    expect(state.asked).toBe(1);
    const changes: ((at: Endpoint) => Endpoint)[] = [
      (at) => ({ ...at, metadata: { ...at.metadata, generation: 2 } }),
      (at) => ({ ...at, status: { ...at.status, secretGeneration: 2 } }),
      (at) => ({
        ...at,
        metadata: { ...at.metadata, annotations: { 'arc.opendefense.cloud/probe-at': 'now' } },
      }),
    ];
    for (const [index, change] of changes.entries()) {
      api.put(change(api.read(endpoints, one.metadata) ?? one));
      await probe(api, one, later(10));
      await probe(api, one, later(15));
      expect(state.asked).toBe(index + 2);
    }
  });

  it('probes again later: soon while it is not Ready, rarely when nothing changes', async () => {
    const { url, state } = await registry();
    const one = endpoint('mirror', { remoteURL: url });
    const api = new FakeApi([one]);
    state.status = 503;
    const asked: number[] = [];
    for (let minute = 0; minute <= 300; minute++) {
      if (minute === 5) state.status = 200;
      const before = state.asked;
      await probe(api, one, later(minute * 60));
      if (state.asked > before) asked.push(minute);
    }
    expect(asked).toEqual([0, 1, 2, 4, 8, 10, 20, 30, 50, 90, 120, 180, 240, 300]);
  });
});
