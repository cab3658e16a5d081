import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { anArtifactType, type Load, startLoad } from '../../fixtures/cluster/load.ts';
import type { HttpsClient } from '../../fixtures/http/https-client.ts';
import { arc, ended, install, pods, production, uninstall } from './conduit.ts';
import { describeConsole } from './console.ts';
import type { Registries } from './images.ts';
import { client, field, kubectl, lines } from './kubectl.ts';
import { describeNetwork } from './network.ts';
import { servedBy } from './served-by.ts';
import { disturb, prepareTeam, removeTeam } from './team.ts';

// The production overlay, with all three members of etcd on the one node there is.
const minutes = 60_000;
const members = ['etcd-0', 'etcd-1', 'etcd-2'];
const certificates = ['api-server-tls', 'api-server-etcd-client-tls', 'etcd-server-tls', 'etcd-peer-tls'];
let registries: Registries;

beforeAll(async () => {
  await removeTeam();
  await install(production);
  await kubectl('delete', 'orders', '--all', '-A');
  registries = await prepareTeam();
}, 10 * minutes);

afterAll(async () => {
  await kubectl('delete', 'orders', '--all', '-A');
  await removeTeam();
  await uninstall(production);
}, 6 * minutes);

describe('three members of etcd', { timeout: 10 * minutes }, () => {
  it('have one leader', async () => {
    const leading = await Promise.all(members.map((member) => metric(member, 'etcd_server_is_leader')));
    expect(leading.toSorted()).toEqual([0, 0, 1]);
  });

  it.each([
    ['one that follows', 0],
    ['the one that leads', 1],
  ])('lose %s in the middle of an Order, which ends right', async (_what, leads) => {
    const order = await disturb(registries, `members-${leads}`);
    await eventually('the Order to have begun', 3 * minutes, order.begun);
    const [victim = ''] = await membersWhere('etcd_server_is_leader', (value) => value === leads);
    await kubectl('-n', arc, 'delete', 'pod', victim, '--force');
    expect(await ended('team', order.name)).toBe('Succeeded');
    await order.moved();
    await kubectl('-n', arc, 'rollout', 'status', 'statefulset/etcd', '--timeout=120s');
  });

  it('are all asked by api-server', async () => {
    await eventually('a request to each', minutes, async () => {
      await lines('get', 'orders', '-A', '-o', 'name');
      expect(await membersWhere('etcd_server_client_requests_total', (value) => value > 0)).toEqual(members);
    });
  });
});

describe('the accounts of ARC', { timeout: 10 * minutes }, () => {
  it('are held to what they need by policies, under which the Orders here run', async () => {
    const stolen = ['secret', 'generic', 'stolen', '--type=example.com/other'];
    const as = '--as=system:serviceaccount:arc-system:render-secret';
    await expect(kubectl('-n', 'team', 'create', ...stolen, as)).rejects.toThrow(
      /ValidatingAdmissionPolicy 'arc-rendered-secrets'.*type Opaque only/,
    );
  });
});

describeNetwork();

describeConsole();

describe('watch-bridge', { timeout: 10 * minutes }, () => {
  it('is restarted in the middle of an Order, which still succeeds', async () => {
    const order = await disturb(registries, 'bridge-restart');
    await eventually('the Order to have begun', 3 * minutes, order.begun);
    await kubectl('-n', arc, 'rollout', 'restart', 'deployment/watch-bridge');
    expect(await ended('team', order.name)).toBe('Succeeded');
    await order.moved();
    await kubectl('-n', arc, 'rollout', 'status', 'deployment/watch-bridge', '--timeout=240s');
  });
});

describe('under a steady load of gets, lists, writes and a watch', { timeout: 10 * minutes }, () => {
  let api: HttpsClient;
  let load: Load;

  beforeAll(async () => {
    await kubectl('create', 'namespace', 'load');
    api = await client();
    load = await startLoad('load', [() => api], anArtifactType);
    await load.more(50);
  }, 2 * minutes);

  afterAll(async () => {
    api?.close();
    await kubectl('delete', 'namespace', 'load', '--ignore-not-found');
  }, 2 * minutes);

  it('api-server is restarted', async () => {
    await kubectl('-n', arc, 'rollout', 'restart', 'deployment/api-server');
    await kubectl('-n', arc, 'rollout', 'status', 'deployment/api-server', '--timeout=240s');
    await eventually('the former pods to be gone', 3 * minutes, async () => {
      expect(await pods('api-server')).toHaveLength(2);
    });
    await load.more(50);
    expect(load.outcome.failures).toEqual([]);
  });

  it('every certificate is renewed, and api-server goes on with its own without a restart', async () => {
    const before = await Promise.all(certificates.map(certificateOf));
    const served = await servedBy('api-server');
    const running = await pods('api-server');
    // certificate-issuer looks once a minute, and kubelet takes about as long to bring them into the pods.
    await kubectl('-n', arc, 'delete', 'secret', ...certificates);
    await eventually('every certificate to be made anew', 3 * minutes, async () => {
      const now = await Promise.all(certificates.map(certificateOf));
      expect(now.filter((cert) => cert === '' || before.includes(cert))).toEqual([]);
    });
    await eventually('each api-server to take them', 5 * minutes, async () => {
      for (const pod of running) {
        const log = await lines('-n', arc, 'logs', pod);
        for (const which of ['serving certificate', 'client certificate for etcd'])
          expect(log.filter((line) => line.includes(`using a new ${which}`))).toHaveLength(1);
      }
    });
    expect(await servedBy('api-server')).not.toEqual(served);
    await load.more(50);
    expect(await pods('api-server')).toEqual(running);
  });

  it('no request failed, and no event was lost', async () => {
    await load.finish();
    expect(load.outcome.failures).toEqual([]);
    expect(load.outcome.reads).toBeGreaterThan(0);
  });
});

function certificateOf(secret: string): Promise<string> {
  return field('{.data.tls\\.crt}', '-n', arc, 'secret', secret, '--ignore-not-found');
}

async function membersWhere(name: string, accept: (value: number) => boolean): Promise<string[]> {
  const values = await Promise.all(members.map((member) => metric(member, name)));
  return members.filter((_, at) => accept(values[at] ?? 0));
}

/** The sum of a metric of one member over its labels. */
async function metric(member: string, name: string): Promise<number> {
  const text = await lines('get', '--raw', `/api/v1/namespaces/${arc}/pods/${member}:2381/proxy/metrics`);
  const values = text.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
