import type { Authorizer, User } from '#shared/kubernetes/apiserver';
import { aggregatedRules } from './aggregation.ts';
import { defaultManifests } from './defaults.ts';
import type { Manifest } from './manifests.ts';
import { binding, type PolicyRule, readAs, role, ruleAllows, type Subject, subjectIs } from './rules.ts';

/** A binding with its role looked up: who may do what, in one namespace ('' = everywhere). */
interface Grant {
  namespace: string;
  subjects: readonly Subject[];
  rules: readonly PolicyRule[];
}

/**
 * Decides by the RBAC objects among `manifests` (others are passed over), beside the defaults every cluster has: discovery
 * and self reviews for system:authenticated, and everything for system:masters. Authenticated users get that group
 * whether or not they bring it. Throws Invalid for a malformed role or binding.
 */
export function rbacAuthorizer(manifests: readonly Manifest[]): Authorizer {
  const grants = grantsOf([...defaultManifests, ...manifests]);
  return (user, asked) => {
    if (user.groups.includes('system:masters')) return Promise.resolve({ allowed: true });
    const found = applying(grants, user, asked.isResourceRequest ? asked.namespace : '');
    return Promise.resolve(
      found.some((grant) => grant.rules.some((rule) => ruleAllows(rule, asked)))
        ? { allowed: true }
        : { allowed: false },
    );
  };
}

/** The rules that hold for a user in a namespace: what a SelfSubjectRulesReview answers. */
export type RulesOf = (user: User, namespace: string) => PolicyRule[];

/** From the same manifests as `rbacAuthorizer`. */
export function rbacRules(manifests: readonly Manifest[]): RulesOf {
  const grants = grantsOf([...defaultManifests, ...manifests]);
  const everything: PolicyRule[] = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
    { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
  ];
  return (user, namespace) =>
    user.groups.includes('system:masters')
      ? everything
      : applying(grants, user, namespace).flatMap((grant) => [...grant.rules]);
}

function applying(grants: readonly Grant[], user: User, namespace: string): Grant[] {
  const known = withAuthenticated(user);
  return grants.filter(
    (grant) =>
      (grant.namespace === '' || grant.namespace === namespace) &&
      grant.subjects.some((subject) => subjectIs(subject, known, grant.namespace)),
  );
}

function withAuthenticated(user: User): User {
  const anonymous = user.name === 'system:anonymous';
  const group = anonymous ? 'system:unauthenticated' : 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

function grantsOf(manifests: readonly Manifest[]): Grant[] {
  const rbac = manifests.filter((one) => one.apiVersion.startsWith('rbac.authorization.k8s.io/'));
  const clusterRoles = aggregatedRules(rbac.filter((one) => one.kind === 'ClusterRole'));
  const roles = new Map(
    rbac
      .filter((one) => one.kind === 'Role')
      .map((one) => [
        `${one.metadata.namespace ?? 'default'}/${one.metadata.name}`,
        readAs(role, one).rules ?? [],
      ]),
  );
  return rbac
    .filter((one) => one.kind === 'RoleBinding' || one.kind === 'ClusterRoleBinding')
    .map((one) => {
      const { subjects, roleRef } = readAs(binding, one);
      const namespace = one.kind === 'RoleBinding' ? (one.metadata.namespace ?? 'default') : '';
      // A binding may stand before its role; until that exists it grants nothing.
      const rules =
        roleRef.kind === 'ClusterRole'
          ? clusterRoles.get(roleRef.name)
          : roles.get(`${namespace}/${roleRef.name}`);
      return { namespace, subjects, rules: rules ?? [] };
    });
}
