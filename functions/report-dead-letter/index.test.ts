import { afterEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { settingsMap } from '#shared/conduit/function-kit';
import { type Served, serveFunction } from '#shared/conduit/runtime';
import { artifactWorkflows, endpoints, events, orders } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, endpoint, namespace, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import * as fn from './index.ts';

const { handle } = fn;
const failure = {
  destination: 'http://broker-filter.knative-eventing.svc/triggers/arc-system/roll-up-order/uid',
  status: 422,
  body: '{"reason":"Invalid","message":"the status is too large"}',
};
const one = order('one', ['a:1']);
const kindOf = (kind: string) =>
  (kind === 'Order' ? orders : kind === 'Endpoint' ? endpoints : artifactWorkflows) as Kind;
const letter = { ...eventOf(one, 'roll-up'), failure };

describe('report-dead-letter', () => {
  it('records on the object which function refused and why, and counts it', async () => {
    const api = new FakeApi([one]);
    const context = contextOf(api);
    await handle(context, letter);
    await handle(context, letter);
    const recorded = api.all(events);
    expect(recorded).toHaveLength(1);
    expect(recorded[0]).toMatchObject({
      type: 'Warning',
      reason: 'WakeRefused',
      count: 2,
      involvedObject: { kind: 'Order', name: 'one', namespace, uid: 'uid-one' },
      message: expect.stringContaining('function roll-up-order failed every delivery of the step "roll-up"'),
    });
    expect(recorded[0]?.message).toContain('its last answer was 422: the status is too large');
    expect(context.metrics.expose()).toContain(
      'arc_dead_letters_total{function="roll-up-order",status="422",kind="Order"} 2',
    );
  });

  it.each([
    ['Order', one],
    ['ArtifactWorkflow', artifactWorkflow('one-0123456789abcdef')],
    ['Endpoint', endpoint('source')],
  ])('sets the condition Delivered of an %s, beside the others and once', async (_, given) => {
    const other = {
      type: 'Ready',
      status: 'True',
      reason: 'Fine',
      message: '',
      lastTransitionTime: 't',
    } as const;
    const object = { ...given, status: { ...given.status, conditions: [other] } };
    const api = new FakeApi([object]);
    for (const seconds of [0, 60])
      await handle(contextOf(api, new Date(1_767_312_000_000 + seconds * 1000)), {
        ...eventOf(object),
        failure,
      });
    const kind = kindOf(given.kind);
    expect(api.read(kind, object.metadata)?.status).toMatchObject({
      conditions: [
        other,
        {
          type: 'Delivered',
          status: 'False',
          reason: 'WakeRefused',
          observedGeneration: given.metadata.generation,
          lastTransitionTime: '2026-01-02T00:00:00Z',
          message: expect.stringContaining('function roll-up-order failed every delivery of the step'),
        },
      ],
    });
    const statusWrites = api.writes.filter(({ subresource }) => subresource === 'status');
    expect(statusWrites).toHaveLength(1);
  });

  it('reads the object again when somebody else has written it', async () => {
    const api = new FakeApi([one]);
    let conflicts = 2;
    api.before = ({ subresource }) => {
      if (subresource === 'status' && conflicts-- > 0) throw new ArcError('Conflict', 'changed');
    };
    await handle(contextOf(api), letter);
    expect(api.read(orders, one.metadata)?.status?.conditions).toHaveLength(1);
  });

  it('sets no condition that nobody would take back: of an Endpoint without probes', async () => {
    const settings = { ...settingsMap, data: { 'features.probes': 'off' } };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: settingsMap, data: settings.data };
    const source = endpoint('source');
    const api = new FakeApi([source, map]);
    await handle(contextOf(api), { ...eventOf(source), failure });
    expect(api.writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['create events']);
  });

  it.each([
    ['is gone', {}],
    ['was replaced by another object of its name', { uid: 'another' }],
    ['has no functions', { kind: 'Secret', apiVersion: 'v1' }],
  ])('accepts a dead letter whose object %s', async (_, change) => {
    const api = 'uid' in change || 'kind' in change ? new FakeApi([one]) : new FakeApi();
    await handle(contextOf(api), { ...letter, ...change });
    expect(api.writes).toEqual([]);
  });

  it('rejects only while the API is unavailable', async () => {
    const api = new FakeApi([one]);
    const context = contextOf(api);
    api.before = () => {
      throw new ArcError('ServiceUnavailable', 'away');
    };
    await expect(handle(context, letter)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    api.before = () => {
      throw new ArcError('Forbidden', 'no');
    };
    await handle(context, letter);
  });
});

describe('report-dead-letter over HTTP', () => {
  const served: Served[] = [];
  afterEach(async () => {
    for (const one of served.splice(0)) await one.close();
  });
  async function start(api: FakeApi): Promise<string> {
    const log = createLogger({ name: 'test', level: 'silent' });
    const here = await serveFunction(fn, {
      name: 'report-dead-letter',
      port: 0,
      api: api.client,
      log,
      env: {},
    });
    served.push(here);
    return here.url;
  }

  it.each([
    ['an empty request', {}, ''],
    ['a request without an event', { 'content-type': 'application/json' }, '{"ok":true}'],
    ['a broken structured event', { 'content-type': 'application/cloudevents+json' }, '{"id":'],
    ['a batch', { 'content-type': 'application/cloudevents-batch+json' }, '[]'],
    ['a body that is too large', { 'content-type': 'application/json' }, 'x'.repeat(100_000)],
    [
      'an event of another type',
      { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/x', 'ce-type': 'com.example.other' },
      '',
    ],
  ])('answers 204 to %s', async (_, headers, body) => {
    const url = await start(new FakeApi());
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^arc_dead_letters_total\{function="unknown",status="none",kind="unknown"\} 1$/m,
    );
  });

  it.each([
    ['an integer', 500],
    ['text', '500'],
  ])('reads an error code that is %s', async (_, knativeerrorcode) => {
    const api = new FakeApi([endpoint('source')]);
    const url = await start(api);
    const body = JSON.stringify({
      specversion: '1.0',
      id: '1',
      source: '/arc',
      type: 'cloud.opendefense.arc.step.v1',
      kind: 'Endpoint',
      apiversion: 'arc.opendefense.cloud/v1alpha1',
      namespace,
      name: 'source',
      uid: 'uid-source',
      step: 'track-credentials',
      knativeerrordest: 'http://track-credentials.arc-system.svc.cluster.local',
      knativeerrorcode,
      knativeerrordata: Buffer.from('out of memory').toString('base64'),
    });
    const headers = { 'content-type': 'application/cloudevents+json' };
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
    expect(api.all(events)[0]?.message).toBe(
      'function track-credentials failed every delivery of the step "track-credentials"; its last answer was 500: out of memory. It is tried again within a minute while it is due.',
    );
  });
});
