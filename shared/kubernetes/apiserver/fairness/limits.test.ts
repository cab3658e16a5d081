import { expect, it } from 'vitest';
import { exemptUsers, flowOf } from './limits.ts';

const account = (namespace: string, name: string) => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

it('the ServiceAccounts of a namespace share a flow, every other user has its own', () => {
  expect(flowOf(account('team', 'a'))).toBe(flowOf(account('team', 'b')));
  expect(flowOf(account('team', 'a'))).not.toBe(flowOf(account('other', 'a')));
  expect(flowOf({ name: 'jo', groups: ['team'] })).not.toBe(flowOf({ name: 'al', groups: ['team'] }));
  expect(flowOf({ name: 'ServiceAccounts of team', groups: [] })).not.toBe(flowOf(account('team', 'a')));
});

it('exempts system components of Kubernetes and configured users and groups', () => {
  const isExempt = exemptUsers(['system:serviceaccounts:arc-system', 'al']);
  expect(isExempt({ name: 'x', groups: ['system:masters'] })).toBe(true);
  expect(isExempt({ name: 'system:kube-controller-manager', groups: [] })).toBe(true);
  expect(isExempt(account('kube-system', 'generic-garbage-collector'))).toBe(true);
  expect(isExempt(account('arc-system', 'roll-up-order'))).toBe(true);
  expect(isExempt({ name: 'al', groups: [] })).toBe(true);
  expect(isExempt(account('team', 'a'))).toBe(false);
  expect(isExempt({ name: 'system:anonymous', groups: ['system:unauthenticated'] })).toBe(false);
});
