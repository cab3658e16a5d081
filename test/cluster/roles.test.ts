import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import type { HttpsClient } from '../fixtures/http/https-client.ts';

const group = 'arc.opendefense.cloud';
const namespace = 'team';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** Users by the ClusterRole that is bound to them in the namespace. */
const roles = ['view', 'edit', 'admin', 'arc-viewer', 'arc-user', 'arc-operator', 'nothing'] as const;
type Role = (typeof roles)[number];

const reads = ['get', 'list', 'watch'];
const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** What the roles allow: everyone reads, users write Orders and ask for their actions, operators do so for all kinds, nobody writes a status. */
function mayBe(role: Role, verb: string, resource: string, subresource = ''): boolean {
  if (role === 'nothing' || resource === 'clusterartifacttypes') return false;
  if (subresource === 'status') return verb === 'get';
  if (reads.includes(verb)) return true;
  if (['admin', 'arc-operator'].includes(role)) return true;
  return resource === 'orders' && ['edit', 'arc-user'].includes(role);
}

const resources = ['orders', 'artifactworkflows', 'artifacttypes', 'endpoints', 'clusterartifacttypes'];
const questions = resources.flatMap((resource) =>
  [...reads, ...writes].map((verb) => ({ resource, verb, subresource: '' })),
);
const statuses = ['orders', 'artifactworkflows', 'endpoints'].flatMap((resource) =>
  ['get', 'update', 'patch'].map((verb) => ({ resource, verb, subresource: 'status' })),
);
const actions = [
  ...['retry', 'force', 'cancel'].map((subresource) => ({ resource: 'orders', verb: 'create', subresource })),
  ...['retry', 'cancel'].map((subresource) => ({
    resource: 'artifactworkflows',
    verb: 'create',
    subresource,
  })),
];
const all = [...questions, ...statuses, ...actions];

describeCluster('the rights of users', (machine) => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'embedded' });
    const { api, plane } = cluster;
    plane.startControllers();
    await api.must('POST', corePath('namespaces'), newNamespace(namespace));
    for (const role of roles.filter((each) => each !== 'nothing'))
      await api.must('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: role }],
      });
    // The controller manager adds our rules to the roles of the cluster.
    await eventually('the roles to be aggregated', 60_000, async () => {
      for (const name of ['view', 'edit', 'admin']) {
        const { rules } = await api.must('GET', `${rbac}/clusterroles/${name}`);
        expect(JSON.stringify(rules)).toContain(group);
      }
    });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  const as = (role: Role) => ({ headers: { 'Impersonate-User': role } });

  /** What the server answers to a request of that verb that would harm nothing. */
  async function ask(client: HttpsClient, role: Role, question: (typeof questions)[number]): Promise<number> {
    const { resource, verb, subresource } = question;
    const scope = resource === 'clusterartifacttypes' ? undefined : namespace;
    const collection = arcPath(resource, scope);
    const absent = `${arcPath(resource, scope, 'absent')}${subresource && `/${subresource}`}`;
    const requests: Record<string, [string, string, object?]> = {
      get: ['GET', absent],
      list: ['GET', collection],
      watch: ['GET', `${collection}?watch=true&timeoutSeconds=1`],
      create: subresource ? ['POST', absent, {}] : ['POST', `${collection}?dryRun=All`, {}],
      update: ['PUT', absent, {}],
      patch: ['PATCH', absent, {}],
      delete: ['DELETE', absent],
      deletecollection: ['DELETE', `${collection}?labelSelector=none%3Dsuch`],
    };
    const [method, path, body] = requests[verb] ?? ['GET', absent];
    return (await client.send(method, path, body, as(role))).code;
  }

  const name = (role: Role, { resource, verb, subresource }: (typeof questions)[number]) =>
    `${role} ${verb} ${resource}${subresource && `/${subresource}`}`;

  describe.each(roles)('of %s', (role) => {
    const expected = all.map((question) => [
      name(role, question),
      mayBe(role, question.verb, question.resource, question.subresource),
    ]);

    it('match the answers of SelfSubjectAccessReview', async () => {
      const said = [];
      for (const question of all) {
        const resourceAttributes = { ...question, group, namespace };
        if (question.resource === 'clusterartifacttypes') resourceAttributes.namespace = '';
        const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
        const review = await cluster.api.must('POST', path, { spec: { resourceAttributes } }, as(role));
        said.push([name(role, question), (review.status as { allowed: boolean }).allowed]);
      }
      expect(said).toEqual(expected);
    }, 60_000);

    it.each(['through the aggregator', 'directly'])(
      'hold %s',
      async (way) => {
        const client = way === 'directly' ? cluster.plane.admin(cluster.ours.first.url) : cluster.api;
        const codes = await Promise.all(all.map((question) => ask(client, role, question)));
        expect(codes.filter((code) => code === 401 || code >= 500)).toEqual([]);
        expect(all.map((question, at) => [name(role, question), codes[at] !== 403])).toEqual(expected);
      },
      60_000,
    );
  });

  it('reach cluster-wide kinds by a ClusterRoleBinding', async () => {
    const { api } = cluster;
    await api.must('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'types' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'arc-viewer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }],
    });
    const headers = { 'Impersonate-User': 'somebody', 'Impersonate-Group': 'readers' };
    const types = arcPath('clusterartifacttypes');
    await eventually('the binding to be known', 30_000, async () =>
      expect((await api.send('GET', types, undefined, { headers })).code).toBe(200),
    );
    expect((await api.send('POST', types, {}, { headers })).code).toBe(403);
  }, 60_000);

  it('are those of the user that kubectl impersonates', async () => {
    const { kubectl } = cluster.plane;
    const can = (...args: string[]) => ['auth', 'can-i', ...args, '-n', namespace];
    const orders = `orders.${group}`;
    expect((await kubectl(can('create', orders, '--as=edit'))).stdout).toBe('yes\n');
    expect((await kubectl(can('create', orders, '--as=view'), { exit: 1 })).stdout).toBe('no\n');
    expect((await kubectl(can('--list', '--as=arc-user'))).stdout).toContain(orders);
    const input = JSON.stringify(newOrder({ name: 'asked' }));
    await kubectl(['create', '-f', '-', '-n', namespace, '--as=arc-user'], { input });
    const refused = await kubectl(['delete', 'order', 'asked', '-n', namespace, '--as=arc-viewer'], {
      exit: 1,
    });
    expect(refused.stderr).toContain(
      `orders.${group} "asked" is forbidden: User "arc-viewer" cannot delete resource "orders" in API group "${group}" in the namespace "${namespace}"`,
    );
  }, 60_000);

  it('do not grow by impersonation, which is a right of its own', async () => {
    const { plane, ours } = cluster;
    const pair = await plane.authority.issue({ name: 'arc-operator' });
    for (const url of [plane.url, ours.first.url]) {
      const client = plane.client(url, pair);
      const path = arcPath('orders', namespace);
      expect((await client.send('GET', path)).code).toBe(200);
      const refused = await client.send('GET', path, undefined, as('arc-user'));
      expect(refused.code).toBe(403);
      expect(refused.body().message).toContain('cannot impersonate resource "users"');
    }
  }, 60_000);
});
