import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, Order, Workflow } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { ended, install, uninstall } from '../cluster/knative/conduit.ts';
import type { Registries } from '../cluster/knative/images.ts';
import { apply, field, kubectl, lines } from '../cluster/knative/kubectl.ts';
import { mostAtOnce, podRuns, type Run, watchPods } from '../cluster/knative/pod-runs.ts';
import { objects, openToWorkers, orderOf, prepareTeam, removeTeam } from '../cluster/knative/team.ts';
import type { Program } from '../fixtures/program.ts';

const minutes = 60_000;
const installation = { overlay: objects('queued'), volumes: ['arc-etcd-0'] };
/** Of each namespace; the other one may borrow it. */
const quota = 2;
const clusterScoped = ['clusterqueue/team', 'clusterqueue/other', 'resourceflavor/default'];
const hasKueue =
  process.env.KUBECONFIG !== undefined &&
  (await lines('get', 'crds', '-o', 'name').catch(() => [])).some((name) =>
    name.endsWith('localqueues.kueue.x-k8s.io'),
  );
if (!hasKueue)
  console.log('skipped: the tests of queues need Kueue on the cluster of KUBECONFIG: test/rig/up.sh kueue');

/** Kueue itself holds back the pods of Argo, for ARC as knative/components/kueue configures it. */
describe.skipIf(!hasKueue)('transfers in the queues of Kueue', { timeout: 10 * minutes }, () => {
  let registries: Registries;
  let slow: Registry;
  let watched: Record<'team' | 'other', Program>;

  beforeAll(async () => {
    await removeQueues();
    await removeTeam();
    await uninstall(installation);
    await install(installation);
    registries = await prepareTeam();
    await prepareOther();
    await kubectl('apply', '-f', objects('queues.yaml'));
    slow = await openSlowRegistry();
    watched = { team: watchPods('team'), other: watchPods('other') };
  }, 10 * minutes);

  afterAll(async () => {
    for (const program of Object.values(watched ?? {})) await program.stop();
    await removeTeam();
    await removeQueues();
    await uninstall(installation);
    await slow?.close();
  }, 10 * minutes);

  const runsOf = (namespace: 'team' | 'other', order: string): Run[] => [
    ...podRuns(watched[namespace].output.stdout, order).values(),
  ];

  it('hold the quota over 30 artifacts, and each entry says its position and why it waits', async () => {
    await registries.seed('queues/thirty', '1.0');
    await apply(copies('team', 'thirty', 30));
    // Kueue gives a reason only to those that it has tried to admit.
    const reason =
      /in LocalQueue "transfers": couldn't assign flavors to pod set main: insufficient .*quota for pods/;
    await eventually('entries with their positions and reasons', minutes, async () => {
      const waiting = (await entriesOf('team', 'thirty')).filter((entry) => entry.reason === 'Queued');
      const told = waiting.map(({ message = '' }) => message);
      const positions = told.flatMap((message) => /^position (\d+) in/.exec(message)?.[1] ?? []);
      expect(new Set(positions).size, told.join('\n')).toBeGreaterThanOrEqual(3);
      expect(
        told.filter((message) => reason.test(message)),
        told.join('\n'),
      ).not.toEqual([]);
    });
    expect(await ended('team', 'thirty')).toBe('Succeeded');
    const runs = runsOf('team', 'thirty');
    expect(runs).toHaveLength(30);
    // The quota of both: the other namespace has nothing to do.
    expect(mostAtOnce(runs)).toBeLessThanOrEqual(2 * quota);
    await kubectl('-n', 'team', 'delete', 'order', 'thirty');
  });

  it('are shared by two namespaces, whatever their backlogs are', async () => {
    await registries.seed('queues/shared', '1.0');
    await stopQueues('Hold');
    await apply(copies('team', 'shared', 12));
    await apply(copies('other', 'shared', 6));
    await eventually('all pods to wait', 3 * minutes, async () => {
      expect(await waitingPods('team')).toBe(12);
      expect(await waitingPods('other')).toBe(6);
    });
    await stopQueues('None');
    expect(await ended('other', 'shared')).toBe('Succeeded');
    const others = runsOf('other', 'shared');
    const [first = '', last = ''] = [
      others.map(({ started }) => started).sort()[0],
      others
        .map(({ started }) => started)
        .sort()
        .at(-1),
    ];
    const meanwhile = runsOf('team', 'shared').filter(({ started }) => started > first && started <= last);
    // Both have waited all that time: as many of one as of the other, but for those that were running.
    expect(
      Math.abs(meanwhile.length - (others.length - 1)),
      JSON.stringify({ others, meanwhile }),
    ).toBeLessThanOrEqual(2 * quota);
    expect(await ended('team', 'shared')).toBe('Succeeded');
    for (const namespace of ['team', 'other']) await kubectl('-n', namespace, 'delete', 'order', 'shared');
  });

  it('wait again when they are preempted, and no attempt fails for that', async () => {
    await seedImage(slow, 'queues/borrowed', '1.0', { signature: false, layerBytes: 256 * 1024 });
    await registries.seed('queues/reclaims', '1.0');
    slow.faults.add({ method: 'GET', path: /blobs/, fault: { kind: 'drip', bytes: 4096, everyMs: 1000 } });
    await apply(copies('team', 'borrowed', 2 * quota, 'slow'));
    await eventually('workers that move blobs, on borrowed quota too', 3 * minutes, async () => {
      expect(await phases('team', 'borrowed')).toEqual(Array(2 * quota).fill('Running'));
      expect(slow.count('GET', /blobs/)).toBeGreaterThanOrEqual(2 * quota);
    });
    await apply(copies('other', 'reclaims', quota));
    await eventually('the borrowed pods to wait again', 2 * minutes, async () => {
      const waiting = (await entriesOf('team', 'borrowed')).filter(({ reason }) => reason === 'Queued');
      expect(waiting).toHaveLength(quota);
      for (const { message } of waiting) expect(message).toMatch(/LocalQueue "transfers"/);
    });
    slow.faults.clear();
    expect(await ended('other', 'reclaims')).toBe('Succeeded');
    expect(await ended('team', 'borrowed')).toBe('Succeeded');
    const children = await itemsOf<ArtifactWorkflow>('artifactworkflows', 'team', 'borrowed');
    expect(children.map(({ status }) => status?.attempts)).toEqual(Array(2 * quota).fill(1));
    const argo = await itemsOf<Workflow>('workflows', 'team', 'borrowed');
    const pods = argo.map(
      ({ status }) => Object.values(status?.nodes ?? {}).filter(({ type }) => type === 'Pod').length,
    );
    expect(pods.toSorted()).toEqual([...Array(quota).fill(1), ...Array(quota).fill(2)]);
    const failures = [
      'get',
      'events',
      '--field-selector',
      'reason=Failed',
      '-o',
      'jsonpath={.items[*].message}',
    ];
    expect(await kubectl('-n', 'team', ...failures)).toBe('');
    for (const [namespace, name] of [
      ['team', 'borrowed'],
      ['other', 'reclaims'],
    ] as const)
      await kubectl('-n', namespace, 'delete', 'order', name);
  });

  it('say that their queue does not exist, and can be deleted while they wait', async () => {
    await registries.seed('queues/lost', '1.0');
    await apply(copies('team', 'lost', 1, 'source', 'nowhere'));
    await eventually('the reason', 2 * minutes, async () => {
      const [entry] = await entriesOf('team', 'lost');
      expect(entry).toMatchObject({
        reason: 'Queued',
        message: 'it waits in LocalQueue "nowhere": LocalQueue nowhere doesn\'t exist',
      });
    });
    await kubectl('-n', 'team', 'delete', 'order', 'lost', '--timeout=90s');
    await eventually('its pod to go', 2 * minutes, async () =>
      expect(
        (await lines('-n', 'team', 'get', 'pods', '-o', 'name')).filter((name) => name.includes('lost-')),
      ).toEqual([]),
    );
  });
});

/** An Order of copies of the image `queues/<name>:1.0`. */
function copies(
  namespace: string,
  name: string,
  count: number,
  source = 'source',
  queueName = 'transfers',
): object {
  const artifacts = Array.from({ length: count }, (_, index) => ({
    type: 'oci',
    srcRef: { name: source },
    spec: { image: `queues/${name}:1.0`, override: `${namespace}/${name}/${index}:1.0` },
  }));
  const order = orderOf(name, artifacts, { queueName }) as Order;
  return { ...order, metadata: { ...order.metadata, namespace } };
}

async function entriesOf(namespace: string, name: string) {
  const { status } = JSON.parse(await kubectl('-n', namespace, 'get', 'order', name, '-o', 'json')) as Order;
  return Object.values(status?.artifactWorkflows ?? {});
}

/** `Hold`: nothing is admitted until `None`. */
async function stopQueues(stopPolicy: 'Hold' | 'None'): Promise<void> {
  const patch = `--patch=${JSON.stringify({ spec: { stopPolicy } })}`;
  for (const name of ['team', 'other']) await kubectl('patch', 'clusterqueue', name, '--type=merge', patch);
}

async function waitingPods(namespace: string): Promise<number> {
  const pending = ['--field-selector', 'status.phase=Pending', '-o', 'name'];
  return (await lines('-n', namespace, 'get', 'pods', ...pending)).length;
}

async function phases(namespace: string, name: string): Promise<string[]> {
  return (await entriesOf(namespace, name)).map(({ phase }) => phase ?? '');
}

async function itemsOf<T>(kind: string, namespace: string, order: string): Promise<T[]> {
  const selector = `arc.opendefense.cloud/order-name=${order}`;
  const text = await kubectl('-n', namespace, 'get', kind, '-l', selector, '-o', 'json');
  return (JSON.parse(text) as { items: T[] }).items;
}

/** A second namespace with the Endpoints of the team. */
async function prepareOther(): Promise<void> {
  await apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'other', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  await kubectl('apply', '-n', 'other', '-k', 'knative/tenant');
  await openToWorkers('other');
  const login = { username: 'reader', password: 'moves-images' };
  const metadata = { name: 'source-credentials', namespace: 'other' };
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: login });
  const secretRef = { name: metadata.name };
  await applyEndpoint('other', 'source', {
    usage: 'PullOnly',
    remoteURL: 'http://source.registries.svc:5000',
    secretRef,
  });
  await applyEndpoint('other', 'destination', {
    usage: 'PushOnly',
    remoteURL: 'http://destination.registries.svc:5000/mirror',
  });
}

function applyEndpoint(namespace: string, name: string, spec: object): Promise<void> {
  return apply({
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Endpoint',
    metadata: { name, namespace },
    spec: { type: 'oci', tls: { plainHTTP: true }, ...spec },
  });
}

/** A registry of this machine, whose answers the test slows down, as the Endpoint `slow` of the team. */
async function openSlowRegistry(): Promise<Registry> {
  const host = await field('{.subsets[0].addresses[0].ip}', '-n', 'default', 'endpoints/kubernetes');
  const registry = await startRegistry({ host });
  await applyEndpoint('team', 'slow', { usage: 'PullOnly', remoteURL: registry.url });
  await apply({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'slow-registry', namespace: 'team' },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'transfer-worker' } },
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: `${host}/32` } }] }],
    },
  });
  return registry;
}

async function removeQueues(): Promise<void> {
  await kubectl('delete', 'namespace', 'other', '--ignore-not-found');
  await kubectl('delete', 'localqueues', '-A', '--all');
  await kubectl('delete', ...clusterScoped, '--ignore-not-found');
}
