import type { Manifest } from './manifests.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';

function clusterRole(name: string, rules: object[]): Manifest {
  return { apiVersion, kind: 'ClusterRole', metadata: { name }, rules };
}

function bindTo(groups: string[], name: string): Manifest {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    subjects: groups.map((group) => ({ kind: 'Group', name: group })),
    roleRef: { kind: 'ClusterRole', name },
  };
}

function aggregating(name: string): Manifest {
  const matchLabels = { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' };
  return { ...clusterRole(name, []), aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
}

/** The default roles of every cluster (Kubernetes' default RBAC), as far as they concern the kinds served here. */
export const defaultManifests: readonly Manifest[] = [
  clusterRole('system:public-info-viewer', [
    { nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'], verbs: ['get'] },
  ]),
  bindTo(['system:authenticated', 'system:unauthenticated'], 'system:public-info-viewer'),
  clusterRole('system:discovery', [
    {
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/openapi',
        '/openapi/*',
        '/healthz/*',
        '/livez/*',
        '/readyz/*',
      ],
      verbs: ['get'],
    },
  ]),
  bindTo(['system:authenticated'], 'system:discovery'),
  clusterRole('system:basic-user', [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ]),
  bindTo(['system:authenticated'], 'system:basic-user'),
  aggregating('view'),
  // edit holds what view holds and admin what edit holds, by labels of the roles that join them.
  {
    ...clusterRole('edit', []),
    metadata: { name: 'edit', labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
    aggregationRule: {
      clusterRoleSelectors: [
        { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
        { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      ],
    },
  },
  aggregating('admin'),
];
