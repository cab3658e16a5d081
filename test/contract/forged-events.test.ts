import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import {
  artifactWorkflows,
  endpoints,
  events,
  orders,
  secrets,
  stepNames,
  steps,
  workflows,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { namespace, order, secret } from '../../shared/domain/testing/objects.ts';
import {
  type Api,
  fresh,
  prepareForOrders,
  startApi,
  startFunctions,
  startWatching,
} from '../fixtures/standalone/parts.ts';

const kinds: readonly Kind[] = [orders, artifactWorkflows, endpoints, secrets, workflows] as Kind[];
const stepEventType = 'cloud.opendefense.arc.step.v1';
const forged = 'Your account is locked: visit https://evil.example.com';

interface Forged {
  [attribute: string]: string;
}

/** The steps that a kind has. */
const stepsOf = (kind: string) => stepNames.filter((step) => steps[step].kinds.some((one) => one === kind));

/** The attributes of a step event, as anybody can write them. */
function eventOf({ kind, apiVersion, metadata }: KubeObject, step: string): Forged {
  const { name, uid = '' } = metadata;
  return { type: stepEventType, kind, apiversion: apiVersion, name, namespace, uid, step };
}

/** Sends an event in binary mode, without any credential; the status of the answer. */
async function send(url: URL, attributes: Forged): Promise<number> {
  const headers = { 'ce-specversion': '1.0', 'ce-id': crypto.randomUUID(), 'ce-source': '/forged' };
  const own = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]);
  const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...Object.fromEntries(own) } });
  await answer.arrayBuffer();
  return answer.status;
}

async function everything(admin: KubeClient): Promise<KubeObject[]> {
  const lists = await Promise.all(kinds.map((kind) => admin.list(kind, {})));
  return lists.flatMap(({ items }) => items);
}

/** An Order that has succeeded, so that no function has anything to do. */
async function settledOrder(api: Api) {
  const admin = api.clientOf('admin');
  await prepareForOrders(admin, { secretRef: { name: 'login' } });
  await admin.create(secrets, fresh(secret('login', { username: 'u', password: 'p' })));
  const running = await startFunctions(api);
  const stop = startWatching(api, running.sink);
  const made = await admin.create(orders, fresh(order('one', ['a:1'])));
  const list = async () => (await admin.list(workflows, { namespace })).items;
  await expect.poll(async () => (await list()).length, { timeout: 15_000 }).toBe(1);
  for (const { metadata } of await list())
    await admin.mergePatch(workflows, metadata, {
      status: { phase: 'Succeeded', finishedAt: new Date().toISOString() },
    });
  const phase = async () => (await admin.get(orders, made.metadata))?.status?.phase;
  await expect.poll(phase, { timeout: 15_000 }).toBe('Succeeded');
  const rendered = async () => (await admin.list(secrets, { namespace })).items.length;
  await expect.poll(rendered, { timeout: 15_000 }).toBe(1);
  await stop();
  await expect.poll(running.depth, { timeout: 15_000 }).toBe(0);
  // What is due is done first.
  const probe = running.urls.get('probe-endpoint') ?? new URL('no:');
  const { items } = await admin.list(endpoints, {});
  await Promise.all(items.map((one) => send(probe, eventOf(one, 'probe'))));
  return { admin, ...running };
}

/** Functions take events from whoever reaches them: what they do must not depend on who sent one. */
describe('forged events', () => {
  it('make the functions look, change nothing that is as it should be, and show a text in an Event at most', async () => {
    const api = await startApi();
    const { admin, urls, denied } = await settledOrder(api);
    const before = await everything(admin);
    const [login] = before.filter(({ metadata }) => metadata.name === 'login');
    const [one] = before.filter(({ kind }) => kind === 'Order');
    if (!login || !one) throw new Error('nothing was made');
    const targets = before.filter(({ kind }) => ['Order', 'ArtifactWorkflow', 'Endpoint'].includes(kind));
    const changed = eventOf(one, 'decompose');
    const read = [
      ...targets.flatMap((object) => stepsOf(object.kind).map((step) => eventOf(object, step))),
      // of other objects than there are
      { ...changed, uid: 'another' },
      { ...changed, name: 'absent' },
      { ...changed, namespace: 'kube-system' },
      { ...changed, kind: 'Endpoint', step: 'probe' },
    ];
    const refused = [
      { ...changed, name: '../../secrets/login' },
      { ...changed, namespace: 'team/secrets' },
      { ...changed, step: 'because' },
      { ...changed, kind: 'Endpoint' },
      { ...eventOf(login, 'decompose'), kind: 'Secret', apiversion: 'v1' },
      { ...changed, type: 'cloud.opendefense.arc.order.completed.v1' },
      { ...changed, type: 'com.example.other' },
    ];
    const answers = async (url: URL, sent: readonly Forged[]) => {
      const found = await Promise.all(sent.map((attributes) => send(url, attributes)));
      return new Set(found);
    };
    const url = urls.get('report-dead-letter');
    if (!url) throw new Error('nothing reports dead letters');
    for (const [name, other] of urls) {
      if (other === url) continue;
      expect(await answers(other, read), name).toEqual(new Set([204]));
      expect(await answers(other, refused), name).toEqual(new Set([422]));
    }
    // The dead letter sink takes and counts what it cannot read: a refusal would be delivered again.
    expect(await answers(url, refused)).toEqual(new Set([204]));
    expect(await everything(admin)).toEqual(before);
    expect(denied).toEqual([]);

    // A dead letter shows a text in a condition and in one Event of the object: cut, with the name of its sender.
    const letter = {
      ...eventOf(one, 'decompose'),
      knativeerrordest: 'http://evil.example.com/',
      knativeerrorcode: '500',
      knativeerrordata: Buffer.from(forged.repeat(10)).toString('base64'),
    };
    for (let index = 0; index < 20; index++) expect(await send(url, letter)).toBe(204);
    const rest = ({ kind }: KubeObject) => kind !== 'Order';
    expect((await everything(admin)).filter(rest)).toEqual(before.filter(rest));
    const told = await admin.get(orders, { name: one.metadata.name, namespace });
    expect(told?.status?.conditions?.filter(({ status }) => status === 'False')).toContainEqual(
      expect.objectContaining({ type: 'Delivered', message: expect.stringMatching(/^function evil failed/) }),
    );
    const shown = (await admin.list(events, { namespace })).items.filter(({ message }) =>
      message?.startsWith('function evil failed every delivery'),
    );
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ reason: 'WakeRefused', count: 20 });
    expect(shown[0]?.message?.length).toBeLessThan(500);
  });
});
