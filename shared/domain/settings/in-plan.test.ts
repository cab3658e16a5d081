import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { decideChildren } from '../plan/children.ts';
import { planOrder } from '../plan/plan.ts';
import { artifactType } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import type { Settings } from './settings.ts';

const one = order([image('a')]);

function planned(of: Order, settings: Settings = {}, given = inputs()): ArtifactWorkflow {
  const [artifact] = planOrder(of, given, settings).artifacts;
  if (artifact?.state !== 'ready') throw new Error('it is ready');
  return artifact.workflow;
}

const patched = (settings: Settings, child: ArtifactWorkflow, of = one) =>
  decideChildren(of, planOrder(of, inputs(), settings), [child]).patches.map(({ patch }) => patch);

describe("the operator's settings in the plan of an Order", () => {
  const defaults: Settings = {
    'defaults.onChange': 'Keep',
    'defaults.retry.limit': 4,
    'defaults.retry.backoff': '1m',
    'defaults.ttlAfterFinished': '1h',
    'defaults.ttlAfterFailed': '2h',
    'defaults.revisionHistoryLimit': 7,
  };

  it('fill what neither Order nor type sets', () => {
    const types = [artifactType('oci', { retry: { limit: 1 }, ttlAfterFailed: '3h' })];
    expect(planned(one, defaults).spec).toMatchObject({
      retry: { limit: 4, backoff: '1m' },
      ttlAfterFinished: '1h',
      ttlAfterFailed: '2h',
    });
    expect(planned(one, defaults, inputs({ types })).spec).toMatchObject({
      retry: { limit: 1, backoff: '1m' },
      ttlAfterFinished: '1h',
      ttlAfterFailed: '3h',
    });
    const own = order([image('a')], { retry: { limit: 0, backoff: '2s' }, ttlSecondsAfterCompletion: 9 });
    expect(planned(own, defaults).spec).toMatchObject({
      retry: { limit: 0, backoff: '2s' },
      ttlAfterFinished: '9s',
      ttlAfterFailed: '9s',
    });
    expect(planOrder(one, inputs(), defaults)).toMatchObject({ onChange: 'Keep', historyLimit: 7 });
    expect(planOrder(one, inputs())).toMatchObject({ onChange: 'Rerun', historyLimit: 3 });
  });

  it('win over both where they are enforced', () => {
    const settings: Settings = {
      ...defaults,
      'enforced.onChange': 'RerunUnfinished',
      'enforced.retry.limit': 0,
      'enforced.ttlAfterFailed': '5h',
      'enforced.revisionHistoryLimit': 1,
    };
    const policy = {
      onChange: 'Rerun',
      retry: { limit: 9, backoff: '2s' },
      revisionHistoryLimit: 50,
    } as const;
    const own = order([image('a')], { ...policy, ttlSecondsAfterCompletion: 9 });
    expect(planned(own, settings).spec).toMatchObject({
      retry: { limit: 0, backoff: '2s' },
      ttlAfterFinished: '9s',
      ttlAfterFailed: '5h',
    });
    expect(planOrder(own, inputs(), settings)).toMatchObject({
      onChange: 'RerunUnfinished',
      historyLimit: 1,
    });
  });

  it('leave out times to live that are switched off', () => {
    const own = order([image('a')], { ttlSecondsAfterCompletion: 9 });
    const { spec } = planned(own, { ...defaults, 'enforced.ttlAfterFailed': '1h', 'features.ttl': false });
    expect(spec).not.toHaveProperty('ttlAfterFinished');
    expect(spec).not.toHaveProperty('ttlAfterFailed');
  });

  it('are no input of a transfer: a change makes no new version', () => {
    expect(planned(one, defaults).metadata.name).toBe(planned(one).metadata.name);
    const decision = decideChildren(one, planOrder(one, inputs(), defaults), [stored(planned(one), done)]);
    expect([decision.create, decision.stop, decision.remove]).toEqual([[], [], []]);
  });

  it('reach what is under way, and run nothing again that has failed for good', () => {
    const child = planned(one);
    expect(patched({ 'defaults.retry.limit': 4 }, stored(child))).toEqual([
      { spec: { retry: { limit: 4 } } },
    ]);
    const failed = stored(child, broken);
    expect(isFinished(failed)).toBe(true);
    expect(patched({ 'defaults.retry.limit': 4 }, failed)).toEqual([]);
    expect(patched({ 'enforced.retry.limit': 4 }, failed)).toEqual([]);
    expect(patched({ 'defaults.ttlAfterFailed': '1h' }, failed)).toEqual([
      { spec: { ttlAfterFailed: '1h' } },
    ]);
    const retryAt = String(Math.floor(now.getTime() / 1000));
    const retried = {
      ...one,
      metadata: { ...one.metadata, annotations: { [annotations.retryAt]: retryAt } },
    };
    expect(patched({ 'defaults.retry.limit': 4 }, failed, retried)).toMatchObject([
      { spec: { retry: { limit: 4 } }, metadata: { annotations: { [annotations.retryAt]: retryAt } } },
    ]);
  });
});
