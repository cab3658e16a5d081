import type { User } from '../authentication/user/user.ts';

/**
 * The party with which a user shares its limits. A user is one by itself; the ServiceAccounts of a namespace are one together,
 * because whoever may create one of them may create a thousand; so are all who are anonymous.
 */
export function partyOf({ name }: User): string {
  const namespace = /^system:serviceaccount:([^:]+):/.exec(name)?.[1];
  return namespace === undefined ? `user ${name}` : `ServiceAccounts of ${namespace}`;
}

/** Users and groups of Kubernetes' own programs, as in its FlowSchemas `exempt`, `system-leader-election` and kube-system's. */
const systemNames = [
  'system:masters',
  'system:apiserver',
  'system:aggregator',
  'system:kube-aggregator',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:serviceaccounts:kube-system',
];

/** Tells who is exempt: the programs of Kubernetes, and the users and groups of `more`. */
export function exemptUsers(more: readonly string[]): (user: User) => boolean {
  const names = new Set([...systemNames, ...more]);
  return ({ name, groups }) => names.has(name) || groups.some((group) => names.has(group));
}
