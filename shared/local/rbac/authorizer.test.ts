import { describe, expect, it } from 'vitest';
import type { Attributes, User } from '#shared/kubernetes/apiserver';
import { createRbac } from './authorizer.ts';
import { parseManifests } from './manifests.ts';

const manifests = parseManifests(
  `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: orders-reader, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}
rules: [{apiGroups: [g], resources: [orders], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: orders-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: orders-reader}
subjects: [{kind: ServiceAccount, name: f, namespace: sys}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: User, name: jane}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: key, namespace: sys}
rules: [{apiGroups: [''], resources: [secrets], resourceNames: [key], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: key, namespace: sys}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: key}
subjects: [{kind: ServiceAccount, name: f}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: dangling}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nothere}
subjects: [{kind: ServiceAccount, name: f, namespace: sys}]
`,
  'test',
);
const account: User = { name: 'system:serviceaccount:sys:f', groups: [] };
const jane: User = { name: 'jane', groups: [] };
const nobody: User = { name: 'system:anonymous', groups: [] };
const ask = (verb: string, group: string, resource: string, namespace: string, name = ''): Attributes => ({
  isResourceRequest: true,
  verb,
  group,
  version: 'v1',
  resource,
  subresource: '',
  namespace,
  name,
});
const path = (to: string): Attributes => ({ isResourceRequest: false, verb: 'get', path: to });

describe('createRbac', () => {
  const { authorize } = createRbac(manifests);
  it.each<[string, User, Attributes, boolean]>([
    ['cluster-wide, in a namespace', account, ask('list', 'g', 'orders', 'any'), true],
    ['cluster-wide, over all namespaces', account, ask('list', 'g', 'orders', ''), true],
    ['another verb', account, ask('delete', 'g', 'orders', 'any', 'x'), false],
    ['a Role by name', account, ask('get', '', 'secrets', 'sys', 'key'), true],
    ['a Role, another name', account, ask('get', '', 'secrets', 'sys', 'other'), false],
    ['a Role, another namespace', account, ask('get', '', 'secrets', 'any', 'key'), false],
    ['a Role, all namespaces', account, ask('get', '', 'secrets', '', 'key'), false],
    ['aggregated through view and edit into admin', jane, ask('get', 'g', 'orders', 'team', 'x'), true],
    ['a RoleBinding holds in its namespace only', jane, ask('get', 'g', 'orders', 'other', 'x'), false],
    ['discovery', jane, path('/apis/g/v1'), true],
    ['self reviews', jane, ask('create', 'authorization.k8s.io', 'selfsubjectaccessreviews', ''), true],
    ['no metrics', jane, path('/metrics'), false],
    ['health for everybody', nobody, path('/readyz'), true],
    ['no discovery for nobody', nobody, path('/apis'), false],
    ['masters', { name: 'x', groups: ['system:masters'] }, path('/metrics'), true],
  ])('%s', async (_name, user, asked, allowed) => {
    expect((await authorize(user, asked)).allowed).toBe(allowed);
  });

  it('replaces the bindings that users created', async () => {
    const rbac = createRbac(manifests);
    const asked = ask('get', 'g', 'orders', 'dev', 'x');
    const view = parseManifests(
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: view, namespace: dev}\n' +
        'roleRef: {kind: ClusterRole, name: view}\nsubjects: [{kind: User, name: jane}]',
      'x',
    );
    rbac.grant(view);
    expect(await rbac.authorize(jane, asked)).toEqual({ allowed: true });
    expect(rbac.rulesOf(jane, 'dev').flatMap((rule) => rule.resources)).toContain('orders');
    rbac.grant([]);
    expect(await rbac.authorize(jane, asked)).toEqual({ allowed: false });
  });

  it('lets nobody but masters grant rights, whatever their role says', async () => {
    const rbac = createRbac(manifests);
    const all = "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]";
    const head = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole';
    const bound = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: all}';
    const text = `${head}\nmetadata: {name: all}\n${all}\n---\n${bound}\nroleRef: {kind: ClusterRole, name: all}\nsubjects: [{kind: User, name: jane}]`;
    rbac.grant(parseManifests(text, 'x'));
    const group = 'rbac.authorization.k8s.io';
    expect((await rbac.authorize(jane, ask('create', 'g', 'orders', 'any'))).allowed).toBe(true);
    expect((await rbac.authorize(jane, ask('list', group, 'rolebindings', ''))).allowed).toBe(true);
    expect(await rbac.authorize(jane, ask('create', group, 'rolebindings', 'any'))).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('admin'),
    });
  });

  it('names the malformed role', () => {
    const bad = parseManifests(
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\nrules: [{verbs: get}]',
      'x',
    );
    expect(() => createRbac(bad)).toThrow(/Role r: rules\.0\.verbs/);
  });
});

describe('rulesOf', () => {
  const { rulesOf } = createRbac(manifests);
  it('lists the rules that apply in a namespace', () => {
    const resources = rulesOf(account, 'sys').flatMap((rule) => rule.resources);
    expect(resources).toEqual(expect.arrayContaining(['orders', 'secrets', 'selfsubjectreviews']));
    expect(rulesOf(account, 'any').flatMap((rule) => rule.resources)).not.toContain('secrets');
  });
});
