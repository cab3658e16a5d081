import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { type Program, start } from '../../fixtures/program.ts';
import { describeAlike } from './alike.ts';
import { arc, atZero, auditLog, bridgeLeader, dev, ended, install, uninstall } from './conduit.ts';
import { describeGuarded } from './guarded.ts';
import type { Registries } from './images.ts';
import { apply, everything, field, kubectl, lines, refusals } from './kubectl.ts';
import { describeLife } from './life.ts';
import { describePeople } from './people.ts';
import { describeSigned } from './signed.ts';
import { disturb, mine, objects, order, prepareTeam, removeTeam } from './team.ts';
import { describeTruth } from './truth.ts';
import { describeTypes } from './types.ts';

// One installation in a real cluster, from its manifests to its removal: each part goes on where the one before ended.
const minutes = 60_000;
const jo = '--as=system:serviceaccount:team:jo';
let before: string[];
let refusedBefore: Map<string, number>;
let registries: Registries;

beforeAll(async () => {
  for (const kind of [
    'brokers.eventing.knative.dev',
    'services.serving.knative.dev',
    'workflows.argoproj.io',
  ])
    await kubectl('get', kind, '-A');
  await removeTeam();
  await uninstall(dev);
  before = await everything();
  refusedBefore = await refusals();
}, 6 * minutes);

afterAll(async () => {
  await removeTeam();
  await uninstall(dev);
}, 6 * minutes);

describe('installed with kubectl apply -k', { timeout: 8 * minutes }, () => {
  it('is ready: store, API, bridge, broker, triggers and functions', async () => {
    await install(dev);
    // of a run that was cut short
    await kubectl('delete', 'orders', '--all', '-A');
  });

  it('is the same when it is applied again', async () => {
    const serving = () => field('{.metadata.generation}', '-n', 'arc-system', 'deployment', 'api-server');
    const generation = await serving();
    await kubectl('apply', '-k', dev.overlay);
    expect(await serving()).toBe(generation);
  });

  it('has no pod of a function while there is nothing to do', atZero);
});

describe('an Order', { timeout: 8 * minutes }, () => {
  let watched: Program;

  beforeAll(async () => {
    registries = await prepareTeam();
    await kubectl('apply', '-f', objects('subscriber.yaml'));
    await kubectl('-n', 'registries', 'rollout', 'status', 'deployment/subscriber', '--timeout=120s');
    await kubectl('-n', arc, 'wait', '--for=condition=Ready', '--timeout=60s', 'trigger/subscriber');
  }, 4 * minutes);

  it('moves two multi-arch images through functions that were at zero', async () => {
    const app = await registries.seed('library/app', '1.0');
    const tools = await registries.seed('library/tools', '2.0');
    watched = start('kubectl', ['-n', 'team', 'get', 'orders', '-w', '--no-headers']);
    await kubectl('apply', '-f', objects('order.yaml'), jo);
    expect(await ended('team', 'images')).toBe('Succeeded');
    expect(await registries.digest(`${registries.destination}/mirror/library/app:1.0`)).toBe(app);
    expect(await registries.digest(`${registries.destination}/mirror/tools:2.0`)).toBe(tools);
    const { manifests } = JSON.parse(
      await registries.manifest(`${registries.destination}/mirror/library/app:1.0`),
    ) as { manifests: { digest: string }[] };
    expect(manifests).toHaveLength(2);
    for (const { digest } of manifests)
      expect(await registries.digest(`${registries.destination}/mirror/library/app@${digest}`)).toBe(digest);
  });

  it('was carried out by pods of Argo that ran our worker, under an account of its own', async () => {
    const columns = 'custom-columns=A:.spec.serviceAccountName,I:.spec.containers[?(@.name=="main")].image';
    const pods = await lines('-n', 'team', 'get', 'pods', '--no-headers', '-o', columns);
    expect(pods.map((line) => line.split(/\s+/))).toEqual([
      ['arc-workflow', 'dev.local/artifact-conduit:dev'],
      ['arc-workflow', 'dev.local/artifact-conduit:dev'],
    ]);
  });

  it('showed each phase to kubectl get orders -w', async () => {
    await eventually('the watch to show the end', minutes, () =>
      expect(watched.output.stdout).toMatch(/Succeeded\s+2\s+2\s+0/),
    );
    await watched.stop();
    const phases = watched.output.stdout.split('\n').map((line) => line.split(/\s+/)[1]);
    expect([...new Set(phases.filter((phase) => phase))]).toEqual(
      expect.arrayContaining(['Pending', 'Running', 'Succeeded']),
    );
  });

  it('shows its Events in kubectl describe', async () => {
    const text = await kubectl('-n', 'team', 'describe', 'order', 'images');
    expect(text).toMatch(/Normal\s+Accepted\s.*roll-up-order\s+generation 1: 2 artifacts/);
    expect(text).toMatch(/Normal\s+Completed\s.*roll-up-order\s+2 of 2 succeeded/);
  });

  it('sent a subscriber an event for each step', async () => {
    await eventually('the last event', minutes, async () => {
      // A broker may deliver one twice.
      const received = new Set(await lines('-n', 'registries', 'logs', 'deployment/subscriber'));
      const types = [...received].map((line) => /arc\.(.+)\.v1 \S+$/.exec(line)?.[1]).sort();
      expect(types).toEqual([
        'artifact.started',
        'artifact.started',
        'artifact.succeeded',
        'artifact.succeeded',
        'order.accepted',
        'order.completed',
      ]);
    });
    await kubectl('delete', '-f', objects('subscriber.yaml'));
  });

  it('leaves no rendered Secret, and the functions go back to zero', async () => {
    await eventually('the rendered Secrets to go', 2 * minutes, async () =>
      expect(await lines('-n', 'team', 'get', 'secrets', '-o', 'name')).toEqual([
        'secret/source-credentials',
      ]),
    );
    await atZero();
  });
});

describe('rights', { timeout: 4 * minutes }, () => {
  it.each([
    ['create', 'orders.arc.opendefense.cloud', 'yes'],
    ['delete', 'orders.arc.opendefense.cloud', 'yes'],
    ['get', 'artifactworkflows.arc.opendefense.cloud', 'yes'],
    ['watch', 'endpoints.arc.opendefense.cloud', 'yes'],
    ['create', 'endpoints.arc.opendefense.cloud', 'no'],
    ['patch', 'endpoints.arc.opendefense.cloud', 'no'],
    ['create', 'artifactworkflows.arc.opendefense.cloud', 'no'],
    ['delete', 'artifactworkflows.arc.opendefense.cloud', 'no'],
    ['create', 'artifacttypes.arc.opendefense.cloud', 'no'],
    ['patch', 'orders.arc.opendefense.cloud/status', 'no'],
    ['get', 'secrets', 'no'],
    ['create', 'workflows.argoproj.io', 'no'],
  ])('arc-user: may %s %s? %s', async (verb, resource, expected) => {
    const [name = '', subresource] = resource.split('/');
    const more = subresource === undefined ? [] : [`--subresource=${subresource}`];
    const answer = kubectl('-n', 'team', 'auth', 'can-i', verb, name, ...more, jo);
    // can-i says no by its exit code as well
    if (expected === 'yes') expect(await answer).toBe('yes');
    else await expect(answer).rejects.toThrow(/^kubectl .* ended with 1\nno/);
  });

  it('are enough: neither the api-server nor kube-apiserver refused anything so far', async () => {
    const events = await auditLog();
    const own = events.filter(({ user }) => user.username.startsWith('system:serviceaccount:arc-system:'));
    const seen = new Set(own.map(({ user }) => user.username.split(':').at(-1)));
    // Asks only when a time comes, such as that of a retry; none has to come here.
    seen.delete('expire-objects');
    expect(seen).toEqual(
      new Set([
        'decompose-order',
        'probe-endpoint',
        'render-secret',
        'roll-up-order',
        'submit-workflow',
        'sync-status',
        'track-credentials',
        'watch-bridge',
      ]),
    );
    const refused = events.filter(
      ({ responseStatus, annotations }) =>
        responseStatus?.code === 403 ||
        responseStatus?.code === 401 ||
        annotations?.['authorization.k8s.io/decision'] === 'forbid',
    );
    expect(refused.map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)).toEqual([]);
    const now = [...(await refusals())].filter(([key, count]) => count > (refusedBefore.get(key) ?? 0));
    expect(now).toEqual([]);
  });
});

const eventing = 'knative-eventing';
const function_ = (name: string) => ['-l', `serving.knative.dev/service=${name}`];
/** Whom to delete, in which namespace, chosen when it is time. */
const victims: [string, string, () => Promise<string[]> | string[]][] = [
  ['the pods of submit-workflow', arc, () => function_('submit-workflow')],
  ['the pods of roll-up-order', arc, () => function_('roll-up-order')],
  ["the bridge's leader", arc, async () => [await bridgeLeader()]],
  ['one api-server', arc, async () => [await anApiServer()]],
  ['etcd', arc, () => ['etcd-0']],
  ["the broker's ingress", eventing, () => ['-l', 'eventing.knative.dev/brokerRole=ingress']],
  ["the broker's filter", eventing, () => ['-l', 'eventing.knative.dev/brokerRole=filter']],
  ["the broker's channel", eventing, () => ['-l', 'messaging.knative.dev/role=dispatcher']],
];

async function anApiServer(): Promise<string> {
  return field('{.items[0].metadata.name}', '-n', arc, 'pods', '-l', 'app.kubernetes.io/name=api-server');
}

describe('an Order whose helpers die', { timeout: 10 * minutes }, () => {
  it.each(victims)('%s: it ends right, and nothing is done twice', async (victim, namespace, select) => {
    const order = await disturb(registries, `without-${victims.findIndex(([each]) => each === victim)}`);
    await eventually(`a pod of ${victim} to delete in the middle of it`, 3 * minutes, async () => {
      await order.begun();
      const pods = await lines('-n', namespace, 'get', 'pods', '-o', 'name', ...(await select()));
      expect(pods).not.toEqual([]);
      await kubectl('-n', namespace, 'delete', '--force', ...pods);
    });
    expect(await ended('team', order.name)).toBe('Succeeded');
    await order.moved();
  });
});

describeLife();

describeTypes(() => registries);

describeGuarded(() => registries);

describeSigned(() => registries);

describePeople(() => registries);

describe('real Argo', () => describeAlike(() => registries));

describeTruth(() => registries);

describe('removed with kubectl delete -k', { timeout: 8 * minutes }, () => {
  let uid: string;
  let ran: string[];

  it('ends without hanging, while an Order is still there', async () => {
    ran = await mine('workflows', 'images');
    uid = await field('{.metadata.uid}', '-n', 'team', 'order', 'images');
    await uninstall(dev);
    expect(await lines('get', 'apiservices', '-o', 'name')).not.toContain(
      'apiservice.apiregistration.k8s.io/v1alpha1.arc.opendefense.cloud',
    );
  });

  it('finds its data and goes on when it is installed again', async () => {
    await install(dev);
    expect(await field('{.metadata.uid} {.status.phase}', '-n', 'team', 'order', 'images')).toBe(
      `${uid} Succeeded`,
    );
    await registries.seed('chaos/again', '1.0');
    await apply(order('again', ['a']));
    expect(await ended('team', 'again')).toBe('Succeeded');
    expect(await mine('workflows', 'images')).toEqual(ran);
  });

  it('takes Workflows and Secrets of its Orders along when they are deleted first, and leaves nothing behind', async () => {
    await kubectl('delete', 'orders', '--all', '-A');
    await eventually('what the Orders owned to go', 2 * minutes, async () =>
      expect(await lines('-n', 'team', 'get', 'workflows,pods,artifactworkflows', '-o', 'name')).toEqual([]),
    );
    await removeTeam();
    await uninstall(dev);
    // The broker was restarted by rollouts, which leave theirs.
    const ofRollouts = /^ReplicaSet knative-eventing (imc-dispatcher|mt-broker-filter|mt-broker-ingress)-/;
    const left = (await everything()).filter(
      (object) => !before.includes(object) && !ofRollouts.test(object),
    );
    expect(left).toEqual([]);
  });
});
