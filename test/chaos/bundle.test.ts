import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { fc, runs } from '#shared/base/testing';
import { events, orders } from '#shared/domain';
import {
  endpoint,
  namespace,
  ociTemplate,
  ociType,
  order,
  secret,
} from '../../shared/domain/testing/objects.ts';
import { World } from './model/world.ts';

const { status: _unseen, ...source } = endpoint('source', { secretRef: { name: 'credentials' } });
const { status: _unseenToo, ...destination } = endpoint('destination');
const bundle: readonly KubeObject[] = [
  order('order', ['team/app:1', 'team/web:1']),
  source,
  destination,
  secret('credentials', { username: 'mover', password: 'old' }),
  ociType(),
  ociTemplate(),
];
const at = { namespace, name: 'order' };

/** Every function looks at everything, once. */
async function look(world: World): Promise<void> {
  for (const delivery of world.deliveries()) {
    world.begin(delivery);
    await world.finish();
  }
}

function stateOf({ kube }: World) {
  const { phase, conditions = [] } = kube.read(orders, at)?.status ?? {};
  const stalled = conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
  return {
    failed: phase === 'Failed' || stalled,
    warnings: kube.all(events).filter(({ type }) => type === 'Warning'),
  };
}

const shuffled = fc.shuffledSubarray([...bundle], { minLength: bundle.length });

describe('a bundle', () => {
  it('shows no failure, in whatever order it is applied', async () => {
    await fc.assert(
      fc.asyncProperty(shuffled, async (objects) => {
        const world = new World();
        for (const object of objects) {
          world.kube.put(object);
          await look(world);
          expect(stateOf(world)).toEqual({ failed: false, warnings: [] });
          world.pass(1);
        }
        await world.settle();
        expect(world.kube.read(orders, at)?.status?.phase).toBe('Succeeded');
        expect(stateOf(world)).toEqual({ failed: false, warnings: [] });
        expect(world.broken).toEqual([]);
      }),
      { numRuns: runs(20) },
    );
  });

  it('of which one object never comes fails, names it, and goes on when it comes at last', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bundle.length - 1 }), async (missing) => {
        const late = bundle[missing];
        if (late === undefined) throw new Error('the bundle has no such object');
        const world = new World();
        for (const object of bundle) if (object !== late) world.kube.put(object);
        await world.settle();
        const { status } = world.kube.read(orders, at) ?? {};
        expect(status).toMatchObject({
          phase: 'Failed',
          message: expect.stringContaining(late.metadata.name),
        });
        world.kube.put(late);
        await world.settle();
        expect(world.kube.read(orders, at)?.status?.phase).toBe('Succeeded');
      }),
      { numRuns: runs(5) },
    );
  });
});
