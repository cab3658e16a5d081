import { glob, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type ControlPlane, hostAddress, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import type { HttpsClient } from '../fixtures/http/https-client.ts';
import { accountRights, userRights } from './rights.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
const host = hostAddress();

/** Never anybody's, in the conduit's namespace or in a user's. `verb group/resource[/subresource]`. */
const neverAllowed = [
  ...['list', 'watch', 'update', 'patch', 'deletecollection'].map((verb) => `${verb} /secrets`),
  ...['create /pods', 'create /pods/exec', 'create /serviceaccounts/token', 'impersonate /users'],
  ...['create /namespaces', 'get /nodes', 'update /configmaps', 'create apps/deployments'],
  ...['create', 'patch', 'bind', 'escalate'].flatMap((verb) =>
    ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(
      (resource) => `${verb} rbac.authorization.k8s.io/${resource}`,
    ),
  ),
  ...['update', 'delete'].map((verb) => `${verb} arc.opendefense.cloud/orders/status`),
  'patch apiextensions.k8s.io/customresourcedefinitions',
  'create serving.knative.dev/services',
  'create eventing.knative.dev/triggers',
  'delete argoproj.io/workflowtemplates',
  'delete coordination.k8s.io/leases',
  // kubernetes.io/docs/concepts/security/rbac-good-practices, "Privilege escalation risks"
  ...['create /persistentvolumes', 'get /nodes/proxy', 'create /nodes/proxy', 'create /serviceaccounts'],
  ...['impersonate /groups', 'impersonate /serviceaccounts', 'patch /namespaces', 'update /namespaces'],
  ...['create certificates.k8s.io/certificatesigningrequests', 'approve certificates.k8s.io/signers'],
  'update certificates.k8s.io/certificatesigningrequests/approval',
  ...['daemonsets', 'statefulsets', 'replicasets'].map((resource) => `create apps/${resource}`),
  ...['create batch/jobs', 'create batch/cronjobs', 'create argoproj.io/workflowtemplates'],
  ...[
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
  ].flatMap((resource) =>
    ['create', 'patch'].map((verb) => `${verb} admissionregistration.k8s.io/${resource}`),
  ),
];

/** Nor in a namespace that was not given to ARC. */
const neverElsewhere = [
  ...['get /secrets', 'create /secrets', 'delete /secrets', 'list /pods', 'get /pods/log'],
  ...['workflows', 'cronworkflows'].flatMap((resource) =>
    ['create', 'patch', 'delete'].map((verb) => `${verb} argoproj.io/${resource}`),
  ),
];

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

/** Every ServiceAccount of knative/base, and the roles for people, asked of the authorizer of a real kube-apiserver. */
describe.skipIf(!assets || !host)('the rights in knative/base', () => {
  let plane: ControlPlane;
  let admin: HttpsClient;

  beforeAll(async () => {
    plane = await startControlPlane(assets ?? '', host ?? '');
    admin = plane.admin();
    for (const name of ['arc-system', 'team', 'other']) await plane.kubectl(['create', 'namespace', name]);
    const documents = (await manifests()).filter(({ apiVersion, kind }) => {
      return kind === 'ServiceAccount' || apiVersion.startsWith('rbac.authorization.k8s.io/');
    });
    const input = documents.map((one) => JSON.stringify(one)).join('\n---\n');
    await plane.kubectl(['apply', '-f', '-'], { input });
    await plane.kubectl(['apply', '-n', 'team', '-k', 'knative/tenant']);
    for (const role of Object.keys(userRights)) {
      const who = `--serviceaccount=team:${role}`;
      await plane.kubectl(['create', 'rolebinding', role, '-n', 'team', `--clusterrole=${role}`, who]);
    }
  }, 180_000);

  afterAll(async () => {
    await plane?.stop();
  }, 60_000);

  /** `kubectl auth can-i` for somebody else. */
  async function may(user: string, what: string, namespace: string): Promise<boolean> {
    const [verb = '', path = ''] = what.split(' ');
    const [group, resource, subresource] = path.split('/');
    const spec = { user, groups: groupsOf(user), resourceAttributes: { verb, group, resource, namespace } };
    if (subresource !== undefined) Object.assign(spec.resourceAttributes, { subresource });
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const { status } = await admin.must('POST', reviews, review);
    return (status as { allowed: boolean }).allowed;
  }

  /** `kubectl auth can-i --list` as somebody: all that is allowed there, as `group/resource[@name]: verbs`. */
  async function listOf(user: string, namespace: string): Promise<string[]> {
    const impersonation = {
      'impersonate-user': user,
      // Node sends a header twice for a list of values; its type knows single ones only here.
      'impersonate-group': groupsOf(user) as unknown as string,
    };
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace },
    };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    const { status } = await admin.must('POST', path, review, { headers: impersonation });
    const { resourceRules, incomplete } = status as { resourceRules: Rule[]; incomplete: boolean };
    expect(incomplete).toBe(false);
    return linesOf(resourceRules);
  }

  /** What `user` may beyond what everybody may, and where: `*` is everywhere. */
  async function rightsOf(user: string): Promise<string[]> {
    const nobody = 'system:serviceaccount:team:nobody';
    const [here = [], there = [], ...everybody] = await Promise.all([
      listOf(user, 'arc-system'),
      listOf(user, 'team'),
      listOf(nobody, 'arc-system'),
      listOf(nobody, 'team'),
    ]);
    const own = (line: string) => !everybody.flat().includes(line);
    const both = here.filter((line) => there.includes(line));
    return [
      ...both.filter(own).map((line) => `* ${line}`),
      ...here.filter((line) => own(line) && !both.includes(line)).map((line) => `arc-system ${line}`),
      ...there.filter((line) => own(line) && !both.includes(line)).map((line) => `team ${line}`),
    ];
  }

  /** The list and single questions must say the same. */
  async function check(user: string, expected: readonly string[]): Promise<void> {
    expect(await rightsOf(user)).toEqual(expected);
    for (const line of expected) {
      const [, where = '', path = '', verbs = ''] = /^(\S+) (\S+?): (.*)$/.exec(line) ?? [];
      if (path.includes('@')) continue;
      for (const verb of verbs.split(' '))
        expect(await may(user, `${verb} ${path}`, where === '*' ? 'team' : where), line).toBe(true);
    }
    for (const what of neverAllowed)
      for (const namespace of ['arc-system', 'team'])
        expect(await may(user, what, namespace), `${what} in ${namespace}`).toBe(false);
    for (const what of [...neverAllowed, ...neverElsewhere])
      expect(await may(user, what, 'other'), `${what} in a namespace that was not given`).toBe(false);
  }

  it('are listed for every ServiceAccount', async () => {
    const accounts = (await manifests())
      .filter(({ kind }) => kind === 'ServiceAccount')
      .map(({ metadata }) => metadata.name);
    expect(Object.keys(accountRights).toSorted()).toEqual(accounts.toSorted());
  });

  it.each(Object.entries(accountRights))(
    '%s has the rights that its work needs, and no others',
    (name, rights) => check(`system:serviceaccount:arc-system:${name}`, rights),
  );

  it.each(Object.entries(userRights))(
    '%s, bound in a namespace, gives this there and nothing else',
    (name, rights) => check(`system:serviceaccount:team:${name}`, rights),
  );
});

function linesOf(rules: readonly Rule[]): string[] {
  const granted = new Map<string, Set<string>>();
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [''] } of rules) {
    const named = resourceNames.map((name) => (name === '' ? '' : `@${name}`));
    const paths = apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`));
    for (const key of paths.flatMap((path) => named.map((name) => path + name)))
      granted.set(key, new Set([...(granted.get(key) ?? []), ...verbs]));
  }
  return [...granted].map(([key, verbs]) => `${key}: ${[...verbs].toSorted().join(' ')}`).toSorted();
}

function groupsOf(account: string): string[] {
  const [, , namespace] = account.split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

async function manifests(): Promise<Manifest[]> {
  const found: Manifest[] = [];
  for await (const file of glob('knative/base/**/*.yaml')) {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    for (const document of documents) if (document.has('kind')) found.push(document.toJS() as Manifest);
  }
  return found.filter(({ kind }) => kind !== 'Kustomization');
}
