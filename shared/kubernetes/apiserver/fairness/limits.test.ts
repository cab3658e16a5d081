import { expect, it } from 'vitest';
import { exemptUsers, partyOf } from './limits.ts';

const account = (namespace: string, name: string) => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

it('the ServiceAccounts of a namespace are one party, every other user is one', () => {
  expect(partyOf(account('team', 'a'))).toBe(partyOf(account('team', 'b')));
  expect(partyOf(account('team', 'a'))).not.toBe(partyOf(account('other', 'a')));
  expect(partyOf({ name: 'jo', groups: ['team'] })).not.toBe(partyOf({ name: 'al', groups: ['team'] }));
  expect(partyOf({ name: 'ServiceAccounts of team', groups: [] })).not.toBe(partyOf(account('team', 'a')));
});

it('exempts the programs of Kubernetes and those that a setting names', () => {
  const isExempt = exemptUsers(['system:serviceaccounts:arc-system', 'al']);
  expect(isExempt({ name: 'x', groups: ['system:masters'] })).toBe(true);
  expect(isExempt({ name: 'system:kube-controller-manager', groups: [] })).toBe(true);
  expect(isExempt(account('kube-system', 'generic-garbage-collector'))).toBe(true);
  expect(isExempt(account('arc-system', 'roll-up-order'))).toBe(true);
  expect(isExempt({ name: 'al', groups: [] })).toBe(true);
  expect(isExempt(account('team', 'a'))).toBe(false);
  expect(isExempt({ name: 'system:anonymous', groups: ['system:unauthenticated'] })).toBe(false);
});
