import { artifactWorkflows, type Order, orders } from '#shared/domain';
import { artifactWorkflowActions, orderActions } from '../../../shared/domain/actions/actions.ts';
import { namespace, order } from '../../../shared/domain/testing/objects.ts';
import type { Conduit } from './conduit.ts';
import { asNew, create, ifPossible, type Operation, patch, remove } from './edits.ts';

const at = { namespace, name: 'order' };
const otherAt = { namespace, name: 'other' };
const nightlyAt = { namespace, name: 'nightly' };
export const imagesOfNightly = ['team/nightly:1', 'team/nightly:2'];

function nightly(choice: number): NonNullable<Order['spec']['artifacts']> {
  const spec = { image: imagesOfNightly[choice % 2] ?? '', override: 'mirror/nightly:stable' };
  const schedules = [choice % 3 === 0 ? '@hourly' : '*/5 * * * *'];
  return [{ type: 'oci', name: 'nightly', cron: { schedules }, spec }];
}

/** Times to live, schedules, and the verbs of the API. */
export const timedOperations: Readonly<Record<string, Operation>> = {
  'let the other Order expire': (conduit, choice) =>
    patch(conduit, orders, otherAt, { spec: { ttl: ['0s', '45s', '10m'][choice % 3] } }),
  'let the other Order live': (conduit) => patch(conduit, orders, otherAt, { spec: { ttl: null } }),
  'remove what has ended soon': (conduit, choice) => {
    conduit.expires = true;
    const ttlSecondsAfterCompletion = [0, 30, 600][choice % 3];
    return patch(conduit, orders, at, { spec: { ttlSecondsAfterCompletion } });
  },
  'keep what has ended': (conduit) =>
    patch(conduit, orders, at, { spec: { ttlSecondsAfterCompletion: null } }),
  'create the schedule': (conduit, choice) =>
    create(conduit, orders, asNew(order('nightly', [], { artifacts: nightly(choice) }))),
  'edit the schedule': (conduit, choice) =>
    patch(conduit, orders, nightlyAt, { spec: { artifacts: nightly(choice) } }),
  'suspend the schedule': (conduit, choice) =>
    patch(conduit, orders, nightlyAt, { spec: { suspend: choice % 2 === 0 ? true : null } }),
  'delete the schedule': (conduit) => remove(conduit, orders, nightlyAt),
  'let a run of the schedule fail': async ({ argo }, choice) => {
    argo.failures.set(imagesOfNightly[choice % 2] ?? '', 1);
  },
  'ask an Order by a verb': async (conduit, choice) => {
    const object = conduit.kube.read(orders, choice % 4 === 3 ? otherAt : at);
    const next = object && orderActions[choice % orderActions.length]?.act(object, asked(conduit));
    if (next && next !== object) await ifPossible(conduit.client.replace(orders, next));
  },
  'ask an ArtifactWorkflow by a verb': async (conduit, choice) => {
    const all = conduit.kube.all(artifactWorkflows);
    const object = all[(choice >> 1) % all.length];
    const next = object && artifactWorkflowActions[choice % 2]?.act(object, asked(conduit));
    if (next && next !== object) await ifPossible(conduit.client.replace(artifactWorkflows, next));
  },
};

/** Who asks, and when by the clock of the API server. */
export function asked({ apiSeconds }: Conduit) {
  return { user: { name: 'anna' }, now: new Date(apiSeconds * 1000) };
}
