import { describe, expect, it, vi } from 'vitest';
import type { Authorizer, KubeObject } from '#shared/kubernetes/apiserver';
import { accessReviewKinds } from './access-reviews.ts';

const authorize = vi.fn<Authorizer>((user) => Promise.resolve({ allowed: user.name === 'jane' }));
const rule = {
  verbs: ['get'],
  apiGroups: ['g'],
  resources: ['orders'],
  resourceNames: [],
  nonResourceURLs: [],
};
const kinds = accessReviewKinds(authorize, (_user, namespace) => (namespace === 'ns' ? [rule] : []));
const jane = { name: 'jane', groups: ['dev'] };
const ask = (kind: string, spec: object) => {
  const object: KubeObject = { apiVersion: 'x', kind, metadata: { name: '' }, spec };
  return kinds.find((one) => one.kind === kind)?.virtual?.(object, jane);
};

describe('accessReviewKinds', () => {
  const resourceAttributes = {
    verb: 'get',
    group: 'g',
    resource: 'orders',
    subresource: 'status',
    namespace: 'ns',
  };

  it('answers for the user who asks', async () => {
    expect(await ask('SelfSubjectAccessReview', { resourceAttributes })).toMatchObject({
      status: { allowed: true },
    });
    expect(authorize).toHaveBeenLastCalledWith(jane, {
      isResourceRequest: true,
      version: '*',
      name: '',
      verb: 'get',
      group: 'g',
      resource: 'orders',
      subresource: 'status',
      namespace: 'ns',
    });
  });

  it('answers for another user', async () => {
    const spec = { user: 'joe', groups: ['ops'], nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    expect(await ask('SubjectAccessReview', spec)).toMatchObject({ status: { allowed: false } });
    expect(authorize).toHaveBeenLastCalledWith(
      { name: 'joe', groups: ['ops'] },
      { isResourceRequest: false, verb: 'get', path: '/metrics' },
    );
  });

  it('lists rules', async () => {
    const { nonResourceURLs: _none, ...resourceRule } = rule;
    expect(await ask('SelfSubjectRulesReview', { namespace: 'ns' })).toMatchObject({
      status: { resourceRules: [resourceRule], nonResourceRules: [], incomplete: false },
    });
  });

  it('names the user who asks', async () => {
    expect(await ask('SelfSubjectReview', {})).toMatchObject({
      status: { userInfo: { username: 'jane', groups: ['dev', 'system:authenticated'] } },
    });
  });
});
