import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, jobKey } from '../kinds/well-known.ts';
import { parseJob } from '../render/job.ts';
import { renderConfiguration } from '../render/render.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, order, stored } from '../testing/plan-objects.ts';
import { decideChildren } from './children.ts';
import { planOrder } from './plan.ts';

const plain = order([image('a')]);
const cron = { schedules: ['@daily'] };

function forced(of: Order, seconds: number): Order {
  const { metadata } = of;
  return {
    ...of,
    metadata: { ...metadata, annotations: { [annotations.forceAt]: String(1_700_000_000 + seconds) } },
  };
}

/** The ArtifactWorkflow that comes into force for an Order beside those that exist. */
function next(
  of: Order,
  existing: readonly ArtifactWorkflow[] = [],
  given = inputs(),
  status: ArtifactWorkflowStatus = done,
): ArtifactWorkflow {
  const [created] = decideChildren(of, planOrder(of, given), existing).create;
  if (!created) throw new Error('nothing is created');
  return stored(created, status);
}

/** Credentials changed since. */
const turned = inputs({
  endpoints: [endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 2 }), endpoint('to')],
});

/** `verify` of the worker's job. */
function verified(workflow: ArtifactWorkflow): boolean | undefined {
  const [source, destination] = inputs().endpoints;
  const sourceSecret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login' },
    data: { username: Buffer.from('me').toString('base64'), password: Buffer.from('pw').toString('base64') },
  } as const;
  const found = renderConfiguration(workflow, { source, destination, sourceSecret });
  if (!('secret' in found)) throw new Error(JSON.stringify(found));
  return parseJob(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString()).verify;
}

describe('a run of an Order', () => {
  it('trusts the manifest at the destination by default, and its object and job say nothing of it', () => {
    for (const asked of [plain, order([image('a')], { verify: 'OnForce' })]) {
      expect(next(asked).spec).not.toHaveProperty('verify');
      expect(next(asked).metadata.name).toBe(next(plain).metadata.name);
      expect(verified(next(asked))).toBeUndefined();
    }
  });

  it('looks for every blob with Always, on a schedule too', () => {
    for (const artifact of [image('a'), { ...image('a'), cron }]) {
      const workflow = next(order([artifact], { verify: 'Always' }));
      expect(workflow.spec.verify).toBe('Always');
      expect(verified(workflow)).toBe(true);
    }
  });

  it('trusts the manifest with Never, whatever is forced', () => {
    const never = order([image('a')], { verify: 'Never' });
    const first = next(never);
    expect(first.metadata.name).toBe(next(plain).metadata.name);
    const answer = next(forced(never, 1), [first]);
    expect([verified(first), verified(answer)]).toEqual([undefined, undefined]);
    const notes = { [annotations.forceAt]: '1700000000' };
    expect(verified({ ...answer, metadata: { ...answer.metadata, annotations: notes } })).toBeUndefined();
    expect(next(forced(plain, 2), [first, answer]).spec.verify).toBe('OnForce');
  });

  it('looks for every blob after a force, until a run of it has succeeded', () => {
    const first = next(plain);
    const answer = next(forced(plain, 1), [first]);
    expect(answer.spec.verify).toBe('OnForce');
    expect(verified(answer)).toBe(true);
    const later = next(forced(plain, 1), [first, answer], turned);
    expect(later.spec).not.toHaveProperty('verify');
    expect(next(forced(plain, 2), [first, answer, later]).spec.verify).toBe('OnForce');
  });

  it('that takes the place of a forced one which has failed, looks for every blob as well', () => {
    const first = next(plain);
    const failed = next(forced(plain, 1), [first], inputs(), broken);
    expect(next(forced(plain, 1), [first, failed], turned).spec.verify).toBe('OnForce');
  });

  it('trusts the manifest on a schedule, whatever was forced', () => {
    const scheduled = order([{ ...image('a'), cron }]);
    const workflow = next(forced(scheduled, 1), [next(scheduled)]);
    expect(workflow.spec).not.toHaveProperty('verify');
    expect(verified(workflow)).toBeUndefined();
  });

  it('looks for every blob where the force is asked of the ArtifactWorkflow itself', () => {
    const workflow = next(plain);
    const notes = { [annotations.forceAt]: '1700000000' };
    expect(verified({ ...workflow, metadata: { ...workflow.metadata, annotations: notes } })).toBe(true);
  });

  it('that a force asked for stands for its artifact where changes run nothing again', () => {
    const kept = order([image('a')], { onChange: 'Keep' });
    const answer = next(forced(kept, 1), [next(kept)]);
    const decision = decideChildren(forced(kept, 1), planOrder(forced(kept, 1), turned), [answer]);
    expect(decision.create).toEqual([]);
  });
});
