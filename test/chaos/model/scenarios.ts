import type { ObjectMeta } from '#shared/base/meta';
import {
  annotations,
  artifactWorkflows,
  clusterArtifactTypes,
  endpoints,
  isFinished,
  type Order,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import {
  endpoint,
  namespace,
  ociTemplate,
  ociType,
  order,
  secret,
} from '../../../shared/domain/testing/objects.ts';
import { at, expectAnything, type Outcome } from './outcome.ts';
import { World } from './world.ts';

const images = ['team/app:1', 'team/web:1'];

/** What a user does in the midst of it, and how everything has to stand when all is quiet again. */
export interface Scenario {
  name: string;
  spec?: Partial<Order['spec']>;
  failures?: Readonly<Record<string, number>>;
  act(world: World): Promise<void>;
  expected: Partial<Outcome>;
}

const patchOrder = (patch: object) => async (world: World) => {
  await world.client.mergePatch(orders, at, patch);
};

const patchSource = (spec: object) => async (world: World) => {
  await world.client.mergePatch(endpoints, { namespace, name: 'source' }, { spec });
};

const encoded = (text: string) => Buffer.from(text).toString('base64');

/** Two artifacts that land at tags of their own choice, whatever their images. */
const mirrored = (app: string, web: string) => ({
  artifacts: [
    { type: 'oci', spec: { image: app, override: 'mirror/app:stable' } },
    { type: 'oci', name: 'web', spec: { image: web, override: 'mirror/web:stable' } },
  ],
});

/** A few events, so that what follows may find the change before it done, half done or not begun. */
async function aWhile(world: World): Promise<void> {
  for (let round = 0; round < 2; round += 1) await world.round();
}

/** One function is woken for everything there is, and no other. */
async function deliver(world: World, name: string): Promise<void> {
  for (const delivery of world.deliveries().filter((one) => one.name === name)) {
    const work = world.begin(delivery);
    await world.finish();
    await work.done;
  }
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'images are edited to and fro under one tag each',
    spec: mirrored('team/app:1', 'team/web:1'),
    async act(world) {
      await patchOrder({ spec: mirrored('team/app:2', 'team/web:2') })(world);
      await aWhile(world);
      await patchOrder({ spec: mirrored('team/app:1', 'team/web:1') })(world);
    },
    expected: { doubled: expectAnything() },
  },
  {
    name: 'two artifacts change places',
    spec: mirrored('team/app:1', 'team/web:1'),
    act: patchOrder({ spec: mirrored('team/web:1', 'team/app:1') }),
    expected: {},
  },
  {
    name: 'an artifact is taken out and put back, another at its place in between',
    spec: mirrored('team/app:1', 'team/web:1'),
    async act(world) {
      const other = { type: 'oci', name: 'db', spec: { image: 'team/db:1', override: 'mirror/web:stable' } };
      const [app] = mirrored('team/app:1', 'team/web:1').artifacts;
      await patchOrder({ spec: { artifacts: [app, other] } })(world);
      await aWhile(world);
      await patchOrder({ spec: mirrored('team/app:1', 'team/web:1') })(world);
    },
    expected: { doubled: expectAnything() },
  },
  {
    name: "the type's parameters are set and reset",
    async act(world) {
      const set = (parameters: object[] | null) =>
        world.client.mergePatch(clusterArtifactTypes, { name: 'oci' }, { spec: { parameters } });
      await set([{ name: 'specOverride', value: 'mirror/forced:1' }]);
      await aWhile(world);
      await set(null);
    },
    expected: { doubled: expectAnything() },
  },
  { name: 'nothing happens', act: async () => undefined, expected: {} },
  {
    name: 'the credentials change',
    async act({ client }) {
      await client.mergePatch(
        secrets,
        { namespace, name: 'credentials' },
        { data: { password: encoded('new') } },
      );
    },
    expected: {},
  },
  {
    name: 'an Endpoint moves',
    act: patchSource({ remoteURL: 'https://elsewhere.example.com' }),
    expected: {},
  },
  {
    name: 'an Endpoint moves and the Order keeps what it has',
    spec: { onChange: 'Keep' },
    act: patchSource({ remoteURL: 'https://elsewhere.example.com' }),
    expected: { outdated: expectAnything() },
  },
  {
    name: 'an Endpoint moves and the Order keeps what has succeeded',
    spec: { onChange: 'RerunUnfinished' },
    act: patchSource({ remoteURL: 'https://elsewhere.example.com' }),
    expected: { outdated: expectAnything() },
  },
  {
    name: 'an Endpoint moves there and back',
    async act(world) {
      await patchSource({ remoteURL: 'https://elsewhere.example.com' })(world);
      await patchSource({ remoteURL: 'https://source.example.com' })(world);
    },
    expected: {},
  },
  {
    name: 'an Endpoint is deleted and made anew',
    async act({ client }) {
      const key = { namespace, name: 'source' };
      await client.delete(endpoints, key);
      await client.create(endpoints, unseen('source', { secretRef: { name: 'credentials' } }));
    },
    expected: {},
  },
  {
    name: 'the type gets another parameter',
    async act({ client }) {
      const parameters = [{ name: 'scan', value: 'strict' }];
      await client.mergePatch(clusterArtifactTypes, { name: 'oci' }, { spec: { parameters } });
    },
    expected: {},
  },
  {
    name: 'an artifact is taken out',
    act: patchOrder({ spec: { artifacts: [{ type: 'oci', spec: { image: 'team/app:1' } }] } }),
    expected: { artifacts: { 'team/app:1': 'Succeeded' } },
  },
  {
    name: 'an artifact is replaced',
    act: patchOrder({
      spec: { artifacts: ['team/app:1', 'team/db:1'].map((image) => ({ type: 'oci', spec: { image } })) },
    }),
    expected: { artifacts: { 'team/app:1': 'Succeeded', 'team/db:1': 'Succeeded' } },
  },
  {
    name: 'everything is forced again',
    act: patchOrder({ metadata: { annotations: { [annotations.forceAt]: '1767225700' } } }),
    expected: {},
  },
  {
    name: 'it is suspended and resumed',
    async act(world) {
      await patchOrder({ spec: { suspend: true } })(world);
      await world.settle();
      await patchOrder({ spec: { suspend: null } })(world);
    },
    expected: {},
  },
  {
    name: 'it is cancelled, and that is taken back',
    async act(world) {
      await patchOrder({ spec: { cancel: true } })(world);
      await world.settle();
      await patchOrder({ spec: { cancel: null } })(world);
    },
    expected: {},
  },
  {
    name: 'it is cancelled for good, and so are edits',
    spec: mirrored('team/app:1', 'team/web:1'),
    async act(world) {
      await patchOrder({ spec: { cancel: true } })(world);
      await aWhile(world);
      await patchOrder({ spec: mirrored('team/app:2', 'team/web:2') })(world);
    },
    expected: {
      phase: 'Cancelled',
      artifacts: { 'team/app:2': 'Cancelled', 'team/web:2': 'Cancelled' },
      doubled: expectAnything(),
    },
  },
  {
    name: 'it is deleted',
    async act({ client }) {
      await client.delete(orders, at);
    },
    expected: { phase: undefined, artifacts: {} },
  },
  {
    name: 'it is deleted and made anew',
    async act(world) {
      await world.client.delete(orders, at);
      await world.settle();
      await world.client.create(orders, asNew(order('order', images)));
    },
    expected: {},
  },
  {
    name: 'its ArtifactWorkflows are deleted',
    async act({ client, kube }) {
      for (const { metadata } of kube.all(artifactWorkflows))
        await client.delete(artifactWorkflows, metadata);
    },
    expected: { doubled: expectAnything() },
  },
  {
    name: 'finished ArtifactWorkflows are deleted before their Order shows the end',
    async act(world) {
      while (world.argo()) await deliver(world, 'sync-status');
      for (const one of world.kube.all(artifactWorkflows))
        if (isFinished(one)) await world.client.delete(artifactWorkflows, one.metadata);
      await deliver(world, 'submit-workflow');
    },
    expected: {},
  },
  {
    name: 'its Workflows are deleted',
    async act({ client, kube }) {
      for (const { metadata } of kube.all(workflows)) await client.delete(workflows, metadata);
    },
    expected: { doubled: expectAnything() },
  },
  {
    name: 'rendered Secrets are deleted',
    async act({ client, kube }) {
      for (const { metadata } of kube.all(secrets))
        if (metadata.name.startsWith('order-')) await client.delete(secrets, metadata);
    },
    expected: {},
  },
  {
    name: 'one fails and is tried again',
    spec: { retry: { limit: 2, backoff: '10s' } },
    failures: { 'team/app:1': 2 },
    act: async () => undefined,
    expected: {},
  },
  {
    name: 'one fails too often',
    spec: { retry: { limit: 1, backoff: '10s' } },
    failures: { 'team/app:1': 9 },
    act: async () => undefined,
    expected: { phase: 'Failed', artifacts: { 'team/app:1': 'Failed', 'team/web:1': 'Succeeded' } },
  },
  {
    name: 'one fails, and is run again on request',
    failures: { 'team/app:1': 1 },
    async act(world) {
      await world.settle();
      const retryAt = String(Math.floor(world.now().getTime() / 1000));
      await patchOrder({ metadata: { annotations: { [annotations.retryAt]: retryAt } } })(world);
    },
    expected: {},
  },
  {
    name: 'the limit of retries is taken away',
    spec: { retry: { limit: 2, backoff: '20s' } },
    failures: { 'team/app:1': 9 },
    act: patchOrder({ spec: { retry: null } }),
    expected: { phase: 'Failed', artifacts: { 'team/app:1': 'Failed', 'team/web:1': 'Succeeded' } },
  },
  {
    name: 'it runs on a schedule, which changes',
    spec: { defaults: { ...defaults(), cron: { schedules: ['0 1 * * *'] } } },
    act: patchOrder({ spec: { defaults: { cron: { schedules: ['0 2 * * *'] } } } }),
    expected: { phase: 'Scheduled', artifacts: { 'team/app:1': 'Active', 'team/web:1': 'Active' } },
  },
  {
    name: 'it runs on a schedule, which is given up',
    spec: { defaults: { ...defaults(), cron: { schedules: ['0 1 * * *'] } } },
    act: patchOrder({ spec: { defaults: { cron: null } } }),
    expected: {},
  },
  {
    name: 'it runs on a schedule and is deleted',
    spec: { defaults: { ...defaults(), cron: { schedules: ['0 1 * * *'] } } },
    async act({ client }) {
      await client.delete(orders, at);
    },
    expected: { phase: undefined, artifacts: {} },
  },
];

function defaults() {
  return { srcRef: { name: 'source' }, dstRef: { name: 'destination' } };
}

/** The Order, with Endpoints that nobody has looked at yet. */
export function worldOf(scenario: Scenario): World {
  const world = new World(
    ...[ociType(), ociTemplate(), secret('credentials', { username: 'mover', password: 'old' })],
    unseen('source', { secretRef: { name: 'credentials' } }),
    unseen('destination'),
    asNew(order('order', images, scenario.spec)),
  );
  for (const [image, times] of Object.entries(scenario.failures ?? {})) world.failures.set(image, times);
  return world;
}

function unseen(...args: Parameters<typeof endpoint>) {
  const { status: _none, ...rest } = endpoint(...args);
  return asNew(rest);
}

/** Its uid is the API's to give. */
function asNew<T extends { metadata: ObjectMeta }>(object: T): T {
  const { uid: _given, ...metadata } = object.metadata;
  return { ...object, metadata };
}
