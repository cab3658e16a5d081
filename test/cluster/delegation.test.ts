import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority } from '../../shared/base/testing/authority.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newOrder } from '../fixtures/cluster/cluster-objects.ts';
import { type HttpsClient, httpsClient } from '../fixtures/http/https-client.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const configMap = corePath('configmaps', 'kube-system', 'extension-apiserver-authentication');

/** What an aggregated API server leaves to its cluster, and has to keep up with. */
describeCluster('what the cluster decides', (machine) => {
  let cluster: Cluster;
  /** Straight to us, as the cluster's admin. */
  let ours: HttpsClient;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'embedded' });
    ours = cluster.plane.admin(cluster.ours.first.url);
    await cluster.api.must('POST', corePath('namespaces'), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team' },
    });
  }, 180_000);
  afterAll(async () => {
    ours?.close();
    await cluster?.stop();
  }, 60_000);

  const ready = async () => (await ours.send('GET', '/readyz?verbose')).text;
  const order = (name: string) => newOrder({ name, namespace: 'team' });

  it('names webhooks and policies that would be asked about our kinds, while they are there', async () => {
    const { api } = cluster;
    await eventually('everything to be read', 30_000, async () => {
      expect(await ready()).toMatch(/\[\+\]informer-sync ok\n/);
    });
    expect(await ready()).not.toContain('warn:');
    const rule = {
      apiGroups: ['arc.opendefense.cloud'],
      apiVersions: ['*'],
      operations: ['CREATE'],
      resources: ['orders'],
    };
    const webhook = {
      name: 'orders.test.example.com',
      rules: [rule],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      ...{ admissionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } },
    };
    const objects: [string, string, object][] = [
      [
        `${registration}/validatingwebhookconfigurations`,
        'ValidatingWebhookConfiguration',
        { webhooks: [webhook] },
      ],
      [
        `${registration}/mutatingwebhookconfigurations`,
        'MutatingWebhookConfiguration',
        { webhooks: [webhook] },
      ],
      [
        `${registration}/validatingadmissionpolicies`,
        'ValidatingAdmissionPolicy',
        { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false' }] } },
      ],
      [
        `${registration}/validatingadmissionpolicybindings`,
        'ValidatingAdmissionPolicyBinding',
        { spec: { policyName: 'strict', validationActions: ['Deny'] } },
      ],
    ];
    for (const [path, kind, more] of objects) {
      const apiVersion = 'admissionregistration.k8s.io/v1';
      await api.must('POST', path, { apiVersion, kind, metadata: { name: 'strict' }, ...more });
    }
    const sentence =
      'warn: not applied to writes of our kinds: MutatingWebhookConfiguration "strict", ValidatingAdmissionPolicy "strict", ValidatingWebhookConfiguration "strict"\nreadyz check passed\n';
    await eventually('all three to be named', 30_000, async () => expect(await ready()).toContain(sentence));
    // What is said is so: neither kube-apiserver nor we ask them.
    for (const name of ['first', 'second']) await api.must('POST', arcPath('orders', 'team'), order(name));
    expect((await ours.send('GET', '/metrics')).text).toContain(
      'arc_api_server_unapplied_admission{kind="ValidatingWebhookConfiguration"} 1\n',
    );
    for (const [path] of objects) await api.must('DELETE', `${path}/strict`);
    await eventually('none to be named', 30_000, async () => expect(await ready()).not.toContain('warn:'));
    const { stdout } = cluster.ours.first.program().output;
    expect(stdout).toContain('admission of the cluster: nothing selects our kinds');
  });

  it('is measured under the names and labels of kube-apiserver', async () => {
    const { api } = cluster;
    await ours.must('POST', arcPath('orders', 'team'), order('measured'));
    await ours.must('DELETE', arcPath('orders', 'team', 'measured'));
    await ours.must('GET', `${arcPath('orders')}?limit=1`);
    const control = new AbortController();
    const watched = ours.watch(`${arcPath('orders')}?watch=true`, () => control.abort(), control.signal);
    await expect(watched).rejects.toThrow();
    const [mine, reference] = await Promise.all(
      [ours, api].map(async (client) => labelsByName((await client.send('GET', '/metrics')).text)),
    );
    const shared = [...(mine ?? [])].filter(([name]) => reference?.has(name));
    for (const [name, labels] of shared) expect([name, labels]).toEqual([name, reference?.get(name)]);
    expect(shared.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'apiserver_request_total',
        'apiserver_request_duration_seconds_count',
        'apiserver_request_sli_duration_seconds_count',
        'apiserver_response_sizes_count',
        'apiserver_current_inflight_requests',
        'apiserver_longrunning_requests',
        'apiserver_watch_events_total',
        'apiserver_watch_events_sizes_count',
        'apiserver_resource_objects',
        'apiserver_admission_step_admission_duration_seconds_count',
        'apiserver_admission_controller_admission_duration_seconds_count',
        'apiserver_audit_event_total',
        'authentication_attempts',
        'authentication_duration_seconds_count',
        'authorization_attempts_total',
        'authorization_duration_seconds_count',
        'process_cpu_seconds_total',
        'process_max_fds',
        'process_open_fds',
        'process_resident_memory_bytes',
        'process_start_time_seconds',
        'process_virtual_memory_bytes',
      ]),
    );
  });

  it('believes another front proxy, another name and another header from when the ConfigMap says so', async () => {
    const { api, plane, ours: server } = cluster;
    const pid = server.first.program().child.pid;
    const second = await createAuthority('second-front-proxy');
    const [newProxy, oldProxy] = await Promise.all([
      second.issue({ name: 'second-proxy' }),
      plane.frontProxyAuthority.issue({ name: 'front-proxy-client' }),
    ]);
    const ask = async (pair: { cert: string; key: string }, headers: Record<string, string>) => {
      const client = httpsClient(server.first.url, { ca: plane.authority.cert, ...pair }, headers);
      const { code } = await client.send('GET', arcPath('orders', 'team'));
      client.close();
      return code;
    };
    const group = { 'X-Remote-Group': 'system:masters' };
    const usual = { 'X-Remote-User': 'jo', ...group };
    const unusual = { 'X-Other-User': 'jo', ...group };
    expect(await ask(oldProxy, usual)).toBe(200);
    expect(await ask(newProxy, usual)).toBe(401);

    const before = (await api.must('GET', configMap)).data as Record<string, string>;
    const authorities = 'requestheader-client-ca-file';
    const names = 'requestheader-allowed-names';
    const users = 'requestheader-username-headers';
    // kube-apiserver keeps what others have added.
    await api.must('PATCH', configMap, { data: { [authorities]: `${before[authorities]}${second.cert}` } });
    await eventually('the new authority to be read', 20_000, async () => {
      // Known as a front proxy's, with a name that none may have: nobody's certificate, still.
      expect((await api.must('GET', configMap)).data).toMatchObject({
        [authorities]: expect.stringContaining(second.cert.trim()),
      });
    });
    expect(await ask(newProxy, usual)).toBe(401);
    await api.must('PATCH', configMap, { data: { [names]: '["front-proxy-client","second-proxy"]' } });
    await eventually('the new name to be allowed', 20_000, async () =>
      expect(await ask(newProxy, usual)).toBe(200),
    );
    expect(await ask(newProxy, unusual)).not.toBe(200);
    await api.must('PATCH', configMap, { data: { [users]: '["X-Remote-User","X-Other-User"]' } });
    await eventually('the new header to count', 20_000, async () =>
      expect(await ask(newProxy, unusual)).toBe(200),
    );
    expect(await ask(oldProxy, usual)).toBe(200);

    // What makes no sense is said, and what was in force stays.
    await api.must('PATCH', configMap, { data: { [users]: '["no header name"]' } });
    await eventually('the fault to be in the log', 20_000, () =>
      expect(server.first.program().output.stdout).toContain('the authentication config is invalid'),
    );
    expect(await ask(newProxy, unusual)).toBe(200);

    await api.must('PATCH', configMap, { data: before });
    await eventually('the second proxy to be forgotten', 20_000, async () =>
      expect(await ask(newProxy, usual)).toBe(401),
    );
    expect(await ask(oldProxy, usual)).toBe(200);
    expect(server.first.program().child.pid).toBe(pid);
  });

  it('accepts users of another client authority as soon as the ConfigMap names it', async () => {
    const { api, plane, ours: server } = cluster;
    const more = await createAuthority('more-users');
    const pair = await more.issue({ name: 'root', organizations: ['system:masters'] });
    const ask = async () => {
      const client = httpsClient(server.first.url, { ca: plane.authority.cert, ...pair });
      const { code } = await client.send('GET', arcPath('orders', 'team'));
      client.close();
      return code;
    };
    expect(await ask()).toBe(401);
    const { data } = await api.must('GET', configMap);
    const key = 'client-ca-file';
    const before = (data as Record<string, string>)[key] ?? '';
    await api.must('PATCH', configMap, { data: { [key]: `${before}${more.cert}` } });
    await eventually('the users to be known', 20_000, async () => expect(await ask()).toBe(200));
    await api.must('PATCH', configMap, { data: { [key]: before } });
    await eventually('the users to be strangers again', 20_000, async () => expect(await ask()).toBe(401));
  });
});

/** The label names of each metric, sorted; `le` left out. */
function labelsByName(exposition: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of exposition.split('\n')) {
    const [, name, labels = ''] = /^([a-z_]+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const names = [...labels.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label);
    found.set(name, names.sort().join());
  }
  return found;
}
