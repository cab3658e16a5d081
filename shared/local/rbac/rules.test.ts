import { describe, expect, it } from 'vitest';
import type { Attributes } from '#shared/kubernetes/apiserver';
import { type PolicyRule, policyRule, ruleAllows, subjectIs } from './rules.ts';

const rule = (over: Partial<PolicyRule>): PolicyRule => policyRule.parse(over);
const ask = (verb: string, resource: string, over: object = {}): Attributes => ({
  isResourceRequest: true,
  verb,
  group: 'g',
  version: 'v1',
  resource,
  subresource: '',
  namespace: 'ns',
  name: 'n',
  ...over,
});
const orders = { apiGroups: ['g'], resources: ['orders'], verbs: ['get'] };

describe('ruleAllows', () => {
  it.each<[string, Partial<PolicyRule>, Attributes, boolean]>([
    ['the same', orders, ask('get', 'orders'), true],
    ['another verb', orders, ask('list', 'orders'), false],
    ['another resource', orders, ask('get', 'secrets'), false],
    ['another group', orders, ask('get', 'orders', { group: '' }), false],
    ['no subresource with the main one', orders, ask('get', 'orders', { subresource: 'status' }), false],
    [
      'a subresource',
      { ...orders, resources: ['orders/status'] },
      ask('get', 'orders', { subresource: 'status' }),
      true,
    ],
    [
      'no main resource with a subresource',
      { ...orders, resources: ['orders/status'] },
      ask('get', 'orders'),
      false,
    ],
    [
      'every status',
      { ...orders, resources: ['*/status'] },
      ask('get', 'x', { subresource: 'status' }),
      true,
    ],
    [
      'wildcards',
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      ask('x', 'y', { subresource: 'z' }),
      true,
    ],
    ['a name', { ...orders, resourceNames: ['n'] }, ask('get', 'orders'), true],
    ['another name', { ...orders, resourceNames: ['m'] }, ask('get', 'orders'), false],
    ['no name at all', { ...orders, resourceNames: ['n'] }, ask('get', 'orders', { name: '' }), false],
    [
      'a path',
      { nonResourceURLs: ['/healthz'], verbs: ['get'] },
      { isResourceRequest: false, verb: 'get', path: '/healthz' },
      true,
    ],
    [
      'a path below',
      { nonResourceURLs: ['/api/*'], verbs: ['get'] },
      { isResourceRequest: false, verb: 'get', path: '/api/v1' },
      true,
    ],
    [
      'another path',
      { nonResourceURLs: ['/api'], verbs: ['get'] },
      { isResourceRequest: false, verb: 'get', path: '/apis' },
      false,
    ],
    [
      'no path by resources',
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { isResourceRequest: false, verb: 'get', path: '/x' },
      false,
    ],
  ])('%s', (_name, given, asked, expected) => expect(ruleAllows(rule(given), asked)).toBe(expected));
});

describe('subjectIs', () => {
  const user = { name: 'system:serviceaccount:ns:f', groups: ['system:serviceaccounts'] };
  it.each([
    ['its user name', { kind: 'User', name: 'system:serviceaccount:ns:f' }, true],
    ['a group', { kind: 'Group', name: 'system:serviceaccounts' }, true],
    ['another group', { kind: 'Group', name: 'system:masters' }, false],
    ['its account', { kind: 'ServiceAccount', name: 'f', namespace: 'ns' }, true],
    ["its account in the binding's namespace", { kind: 'ServiceAccount', name: 'f' }, true],
    ['an account elsewhere', { kind: 'ServiceAccount', name: 'f', namespace: 'other' }, false],
  ] as const)('%s', (_name, subject, expected) => {
    expect(subjectIs({ namespace: undefined, ...subject }, user, 'ns')).toBe(expected);
  });
});
