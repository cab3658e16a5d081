import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type ArtifactWorkflow, artifactWorkflows, endpoints, labels, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, endpoint, namespace } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { directClient } from '../../test/chaos/model/direct-client.ts';
import { handle } from './index.ts';

const destination = { namespace, name: 'destination' };

/** Ready to start, of this Order; each writes to a place of its own. */
function ready(order: string, at: number, spec: Partial<ArtifactWorkflow['spec']>): ArtifactWorkflow {
  const name = `${order}-${String(at).padStart(16, '0')}`;
  const plain = artifactWorkflow(name);
  return {
    ...plain,
    metadata: {
      ...plain.metadata,
      labels: { [labels.order]: order, [labels.artifact]: name, [labels.target]: name },
      creationTimestamp: `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`,
    },
    spec: { ...plain.spec, ...spec },
  };
}

const limited = { limitedBy: ['destination'] };
const runningOf = (api: FakeApi) => api.all(workflows).filter(({ status }) => status?.phase !== 'Succeeded');

/** All start at once, again and again as a broker would; resolves when nobody conflicts any more. */
async function deliver(api: FakeApi, all: readonly ArtifactWorkflow[]): Promise<void> {
  // Without HTTP in between: there are thousands of calls.
  const context = { ...contextOf(api), api: directClient(api) };
  let left = [...all];
  for (let turn = 0; left.length > 0 && turn < 100; turn++) {
    const outcomes = await Promise.allSettled(left.map((one) => handle(context, eventOf(one))));
    left = left.filter((_, at) => outcomes[at]?.status === 'rejected');
    for (const outcome of outcomes)
      if (outcome.status === 'rejected' && !ArcError.is(outcome.reason, 'Conflict')) throw outcome.reason;
  }
}

const hasRun = (api: FakeApi, { metadata }: ArtifactWorkflow) =>
  api.read(workflows, { namespace, name: metadata.name }) !== undefined;

/** The first Workflow that runs succeeds, and its ArtifactWorkflow hears of it. */
async function endOne(api: FakeApi): Promise<void> {
  const [run] = runningOf(api);
  if (run === undefined) return;
  api.put({ ...run, status: { phase: 'Succeeded' } });
  const owner = api.read(artifactWorkflows, { namespace, name: run.metadata.name });
  if (owner === undefined) throw new Error('nobody owns the Workflow');
  const ended = { phase: 'Succeeded', completionTime: '2026-01-02T00:00:00Z', syncedAttempt: 1 } as const;
  api.put({ ...owner, status: { ...owner.status, ...ended } });
  await deliver(api, [owner]);
}

describe('limits', () => {
  it('let no more Workflows run than maxInFlight, with 50 that want to start at once', async () => {
    const all = Array.from({ length: 50 }, (_, at) => ready(at % 5 === 0 ? 'small' : 'big', at, limited));
    const api = new FakeApi([endpoint('destination', { maxInFlight: 3 }), ...all]);
    let most = 0;
    for (let turn = 0; turn < 60; turn++) {
      await deliver(
        api,
        all.filter((one) => !hasRun(api, one)),
      );
      most = Math.max(most, runningOf(api).length);
      expect(runningOf(api).length).toBeLessThanOrEqual(3);
      await endOne(api);
    }
    expect(most).toBe(3);
    expect(api.all(workflows).length).toBe(50);
    expect(api.read(endpoints, destination)?.status?.inFlight).toEqual([]);
  });

  it('say in the status what is waited for, and how many go first', async () => {
    const all = [0, 1, 2].map((at) => ready('one', at, limited));
    const api = new FakeApi([endpoint('destination', { maxInFlight: 1 }), ...all]);
    for (const one of all) await deliver(api, [one]);
    expect(api.read(artifactWorkflows, all[2]?.metadata ?? destination)?.status).toMatchObject({
      waitReason: 'LimitReached',
      waitMessage: 'Endpoint "destination" takes 1 at a time (spec.maxInFlight): 1 runs, 1 is before it',
    });
  });

  it('give a slot back when an attempt ends, when the object goes, and after a crash', async () => {
    const all = [0, 1, 2].map((at) => ready('one', at, limited));
    const api = new FakeApi([endpoint('destination', { maxInFlight: 1 }, { inFlight: ['gone'] }), ...all]);
    await deliver(api, all);
    expect(runningOf(api).length).toBe(1);
    await endOne(api);
    await deliver(api, all);
    expect(runningOf(api).length).toBe(1);
    const second = api.read(artifactWorkflows, all[1]?.metadata ?? destination);
    if (second === undefined) throw new Error('the second one is gone');
    api.put({
      ...second,
      metadata: { ...second.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [] },
    });
    api.put({ ...(runningOf(api)[0] as object), status: { phase: 'Failed' } } as never);
    await deliver(api, [second]);
    expect(api.read(endpoints, destination)?.status?.inFlight).toEqual([]);
    await deliver(api, all);
    expect(api.all(workflows).map(({ metadata }) => metadata.name)).toContain(all[2]?.metadata.name);
  });

  it('of two Endpoints do not lock each other: one that was ready first gives way to an older one', async () => {
    const both = { limitedBy: ['destination', 'source'] };
    const [older, younger] = [ready('one', 0, both), ready('one', 1, both)];
    // The younger one got the first slot while the older one was not ready, and did not get to the second.
    const half = endpoint('destination', { maxInFlight: 1 }, { inFlight: [younger.metadata.name] });
    const api = new FakeApi([half, endpoint('source', { maxInFlight: 1 }), older, younger]);
    for (const one of [older, younger, older]) await deliver(api, [one]);
    expect(runningOf(api).map(({ metadata }) => metadata.name)).toEqual([older.metadata.name]);
  });

  it('are kept by one that has waited for its place, before its Workflow is recorded', async () => {
    const [first, second] = [ready('one', 0, limited), ready('one', 1, limited)];
    const waitReason = 'PlaceInUse' as const;
    const waited = { ...first, status: { ...first.status, waitReason, waitMessage: 'it is used' } };
    const api = new FakeApi([endpoint('destination', { maxInFlight: 1 }), waited, second]);
    api.before = ({ verb, resource, body }) => {
      if (
        verb === 'patch' &&
        resource === 'artifactworkflows' &&
        JSON.stringify(body).includes('workflowRef')
      )
        throw new ArcError('Conflict', 'it was changed meanwhile');
    };
    await expect(handle(contextOf(api), eventOf(first))).rejects.toMatchObject({ code: 'Conflict' });
    api.before = () => undefined;
    await deliver(api, [second]);
    expect(runningOf(api)).toEqual([]);
  });

  it.each([
    ['maxInFlight', limited],
    ['parallelism', { parallelism: 1 }],
  ])('let another one go on where the Workflow of the first is refused: %s', async (_, spec) => {
    const [first, second] = [ready('one', 0, spec), ready('one', 1, spec)];
    const api = new FakeApi([endpoint('destination', { maxInFlight: 1 }), first, second]);
    api.before = ({ verb, resource, body }) => {
      if (verb === 'create' && resource === 'workflows' && JSON.stringify(body).includes(first.metadata.name))
        throw new ArcError('Invalid', 'a policy denies it');
    };
    const reason = () => api.read(artifactWorkflows, first.metadata)?.status?.waitReason;
    await deliver(api, [first]);
    expect(reason()).toBe('SubmissionFailed');
    expect(api.read(endpoints, destination)?.status?.inFlight ?? []).toEqual([]);
    await deliver(api, [second]);
    expect(runningOf(api).map(({ metadata }) => metadata.name)).toEqual([second.metadata.name]);
    api.before = () => undefined;
    await deliver(api, [first]);
    expect(reason()).toBe('LimitReached');
    await endOne(api);
    await deliver(api, [first]);
    expect(runningOf(api).map(({ metadata }) => metadata.name)).toEqual([first.metadata.name]);
  });

  it('cost nothing where there is none', async () => {
    const one = ready('one', 0, {});
    const api = new FakeApi([endpoint('destination'), one]);
    const calls: string[] = [];
    api.before = ({ verb, resource }) => calls.push(`${verb} ${resource}`);
    await handle(contextOf(api), eventOf(one));
    expect(calls.filter((call) => call.endsWith(' endpoints'))).toEqual([]);
  });

  it('of an Order are not held by one that waits for its place, which comes first again when it is free', async () => {
    const spec = { parallelism: 1 };
    const [blocked, second, third] = [1, 2, 3].map((at) => ready('one', at, spec));
    if (!blocked || !second || !third) throw new Error('none');
    const target = { 'arc.opendefense.cloud/target': 'shared' };
    const labelled = {
      ...blocked,
      metadata: { ...blocked.metadata, labels: { ...blocked.metadata.labels, ...target } },
    };
    const other = ready('other', 0, {});
    const rival = {
      ...other,
      metadata: { ...other.metadata, labels: { ...other.metadata.labels, ...target } },
    };
    const api = new FakeApi([rival, labelled, second, third]);
    const started = () => runningOf(api).map(({ metadata }) => metadata.name);
    await deliver(api, [rival, labelled]);
    expect(api.read(artifactWorkflows, blocked.metadata)?.status?.waitReason).toBe('PlaceInUse');
    await deliver(api, [second]);
    expect(started()).toEqual([rival.metadata.name, second.metadata.name]);
    for (let ended = 0; ended < 2; ended += 1) await endOne(api);
    // The third has decided to start before the place was free; its write comes after the first is in line again.
    const direct = directClient(api);
    const mergePatch: typeof direct.mergePatch = async (...args) => {
      if (JSON.stringify(args[2]).includes('workflowRef')) await handle(contextOf(api), eventOf(labelled));
      return direct.mergePatch(...args);
    };
    const slow = { ...contextOf(api), api: { ...direct, mergePatch } };
    await expect(handle(slow, eventOf(third))).rejects.toMatchObject({ code: 'Conflict' });
    expect(started()).toEqual([blocked.metadata.name]);
    await deliver(api, [third]);
    expect(started()).toEqual([blocked.metadata.name]);
  });

  it('let an Order run as many at once as its parallelism says, the oldest first', async () => {
    const all = Array.from({ length: 6 }, (_, at) => ready('one', at, { parallelism: 2 }));
    const api = new FakeApi(all);
    const order: string[] = [];
    for (let turn = 0; turn < 8; turn++) {
      await deliver(api, [...all].reverse());
      expect(runningOf(api).length).toBeLessThanOrEqual(2);
      const names = runningOf(api).map(({ metadata }) => metadata.name);
      order.push(...names.filter((name) => !order.includes(name)).sort());
      await endOne(api);
    }
    expect(order).toEqual(all.map(({ metadata }) => metadata.name));
  });
});
