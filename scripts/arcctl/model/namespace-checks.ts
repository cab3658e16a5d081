import { ArcError } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import { settingsMap } from '#shared/conduit/function-kit';
import {
  artifactTypes,
  clusterArtifactTypes,
  configMaps,
  endpoints,
  group,
  isOn,
  isUnprobed,
  namespaces,
  parseSettings,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import type { Cluster } from '../core/session.ts';
import { type Check, isStandalone } from './cluster-checks.ts';
import { conditionFinding, type Finding, failed, passed, undecided, warning } from './findings.ts';
import { tenantObjects } from './tenant.ts';

const roleBindings: Kind = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
};
const reviews: Kind = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

/** Checks whether Orders of one namespace can run, and whether the user may create them. */
export const namespaceChecks: readonly Check[] = [
  { name: 'namespace', run: checkNamespace },
  { name: 'tenant', run: checkTenant },
  { name: 'rights', run: checkRights },
  { name: 'types', run: checkTypes },
  { name: 'Endpoints', run: checkEndpoints },
];

async function checkNamespace({ api, namespace }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const found = await api.get(namespaces, { name: namespace }, signal);
  if (found) return [passed('namespace', `${namespace} exists`)];
  return [failed('namespace', `there is no namespace ${namespace}`, `kubectl create namespace ${namespace}`)];
}

async function checkTenant(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const { api, namespace } = cluster;
  // The standalone serves RoleBindings, but its functions need none.
  if (await isStandalone(cluster, signal))
    return [passed('tenant', 'the standalone works in every namespace')];
  try {
    const { items } = await api.list(roleBindings, { namespace }, signal);
    const there = new Set(items.map(({ metadata }) => metadata.name));
    const wanted = (await tenantObjects(namespace)).filter(({ kind }) => kind === 'RoleBinding');
    const missing = wanted.map(({ metadata }) => metadata.name).filter((name) => !there.has(name));
    if (missing.length === 0) return [passed('tenant', `${namespace} is a tenant of ARC`)];
    return [
      warning(
        'tenant',
        `${namespace} is not a tenant of ARC: RoleBinding ${missing.join(', ')} is missing, unless components/cluster-wide-rights is installed`,
        `arcctl tenant add ${namespace}`,
      ),
    ];
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return [];
    throw caught;
  }
}

async function checkRights({ api, namespace }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const wanted = [
    ['create', 'orders', ''],
    ['create', 'orders', 'retry'],
    ['create', 'orders', 'force'],
    ['create', 'orders', 'cancel'],
    ['list', 'artifactworkflows', ''],
    ['list', 'endpoints', ''],
  ] as const;
  const refused: string[] = [];
  for (const [verb, resource, subresource] of wanted) {
    const resourceAttributes = {
      namespace,
      verb,
      group,
      resource,
      ...(subresource !== '' && { subresource }),
    };
    const review = {
      apiVersion: reviews.apiVersion,
      kind: reviews.kind,
      metadata: { name: '' },
      spec: { resourceAttributes },
    };
    const answer: KubeObject = await api.create(reviews, review, signal);
    if (!isRecord(answer.status) || answer.status.allowed !== true)
      refused.push(`${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`);
  }
  if (refused.length === 0) return [passed('rights', `you may create and manage Orders in ${namespace}`)];
  return [
    warning(
      'rights',
      `you may not ${refused.join(', ')}`,
      `kubectl create rolebinding arc-user -n ${namespace} --clusterrole=arc-user --user=NAME`,
    ),
  ];
}

async function checkTypes({ api, namespace }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const [own, shared] = await Promise.all([
    api.list(artifactTypes, { namespace }, signal),
    api.list(clusterArtifactTypes, {}, signal),
  ]);
  const names = [...own.items, ...shared.items].map(({ metadata }) => metadata.name);
  if (names.length > 0) return [passed('types', [...new Set(names)].join(', '))];
  return [
    failed(
      'types',
      'there is no ArtifactType',
      'kubectl apply -f knative/base/artifact-types/oci.yaml -f knative/workflow-templates/oci-image.yaml',
    ),
  ];
}

/** Reasons of Reachable with which no probe will ever set Ready. */
const unprobeable: readonly (string | undefined)[] = ['UnsupportedScheme', 'NotProbed'];

async function checkEndpoints(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const { api, namespace } = cluster;
  const { items } = await api.list(endpoints, { namespace }, signal);
  if (items.length === 0)
    return [warning('Endpoints', `namespace ${namespace} has none`, 'see docs/orders.md')];
  const areProbed = await probesAreOn(cluster, signal);
  const findings = items.map((endpoint) => {
    const { name } = endpoint.metadata;
    const check = `Endpoint ${name}`;
    const conditions = endpoint.status?.conditions ?? [];
    const ready = conditions.find(({ type }) => type === 'Ready');
    if (!areProbed)
      return undecided(
        check,
        'probes are disabled (features.probes): the first transfer shows whether it works',
      );
    if (ready === undefined || isUnprobed(endpoint))
      return warning(
        check,
        'not probed yet: wait until it is Ready',
        cluster.hint(`wait endpoint/${name} --for condition=Ready`),
      );
    if (unprobeable.includes(ready.reason) && ready.status === 'Unknown')
      return undecided(check, `${ready.message}: the first transfer shows whether it works`);
    return conditionFinding(check, conditions, 'Ready', `kubectl describe aep ${name} -n ${namespace}`);
  });
  const wrong = findings.filter(({ state }) => state !== 'ok');
  return wrong.length > 0 ? wrong : [passed('Endpoints', `${items.length} ready`)];
}

/** False if the operator's settings disable probes; true if the user may not read the settings. */
async function probesAreOn({ api }: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    const map = await api.get(configMaps, settingsMap, signal);
    return isOn('probes', parseSettings(map?.data ?? {}).settings);
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden', 'NotFound')) return true;
    throw caught;
  }
}
