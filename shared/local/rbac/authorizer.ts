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

/** Authorizes requests by RBAC, and lists the rules of a user. */
export interface Rbac {
  authorize: Authorizer;
  /** The rules that hold for a user in a namespace: what a SelfSubjectRulesReview answers. */
  rulesOf: RulesOf;
  /** Replaces the roles and bindings that users created by `made`. */
  grant(made: readonly Manifest[]): void;
}

export type RulesOf = (user: User, namespace: string) => PolicyRule[];

/**
 * Evaluates the RBAC objects among `manifests` (others are passed over), beside the defaults every cluster has: discovery
 * and self reviews for system:authenticated, and everything for system:masters. Authenticated users get that group
 * whether or not they bring it. Only system:masters write roles and bindings, so nobody grants rights that they lack.
 * @throws Invalid for a malformed role or binding
 */
export function createRbac(manifests: readonly Manifest[]): Rbac {
  const shipped = [...defaultManifests, ...manifests];
  let grants = grantsOf(shipped);
  return {
    authorize(user, asked) {
      if (user.groups.includes('system:masters')) return Promise.resolve({ allowed: true });
      if (asked.isResourceRequest && asked.group === rbacGroup && !reads.includes(asked.verb))
        return Promise.resolve({ allowed: false, reason: 'only the admin of a standalone grants rights' });
      const found = applying(grants, user, asked.isResourceRequest ? asked.namespace : '');
      const allowed = found.some((grant) => grant.rules.some((rule) => ruleAllows(rule, asked)));
      return Promise.resolve({ allowed });
    },
    rulesOf: (user, namespace) =>
      user.groups.includes('system:masters')
        ? everything
        : applying(grants, user, namespace).flatMap((grant) => [...grant.rules]),
    grant(made) {
      grants = grantsOf([...shipped, ...made]);
    },
  };
}

const rbacGroup = 'rbac.authorization.k8s.io';
const reads = ['get', 'list', 'watch'];
const everything: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

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
  const rbac = manifests.filter((one) => one.apiVersion.startsWith(`${rbacGroup}/`));
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
