import { X509Certificate } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import { settingsMap } from '#shared/conduit/function-kit';
import {
  apiVersion,
  conduitNamespace,
  configMaps,
  group,
  isSettingKey,
  parseSettings,
  settingsTable,
  version,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { closest } from '../core/closest.ts';
import type { Cluster } from '../core/session.ts';
import { certificateFinding, conditionFinding, type Finding, failed, passed, warning } from './findings.ts';

/** A check of `arcctl doctor`. Rejects with the error of the API; the caller handles Forbidden. */
export interface Check {
  name: string;
  run(cluster: Cluster, signal: AbortSignal): Promise<Finding[]>;
}

const install = 'kubectl apply -k knative/overlays/production';
const kind = (api: string, name: string, plural: string, namespaced = true): Kind => ({
  apiVersion: api,
  kind: name,
  plural,
  namespaced,
});
const apiServices = kind('apiregistration.k8s.io/v1', 'APIService', 'apiservices', false);
const deployments = kind('apps/v1', 'Deployment', 'deployments');
const services = kind('serving.knative.dev/v1', 'Service', 'services');
const brokers = kind('eventing.knative.dev/v1', 'Broker', 'brokers');
const triggers = kind('eventing.knative.dev/v1', 'Trigger', 'triggers');
const crds = kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', false);

/** Checks the cluster's prerequisites and ARC's components. The first check is whether the cluster is reachable. */
export const clusterChecks: readonly Check[] = [
  { name: 'Kubernetes', run: checkVersion },
  { name: 'ARC API', run: checkApi },
  { name: 'APIService', run: checkApiService },
  { name: 'Deployments', run: checkDeployments },
  { name: 'functions', run: (cluster, signal) => checkAll(cluster, services, 'functions', signal) },
  { name: 'Broker', run: (cluster, signal) => checkAll(cluster, brokers, 'Broker', signal) },
  { name: 'Triggers', run: (cluster, signal) => checkAll(cluster, triggers, 'Triggers', signal) },
  { name: 'Argo Workflows', run: checkArgo },
  { name: 'settings', run: checkSettings },
];

/** True for the standalone, which has these parts in its process. */
export function isStandalone(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  const known = standalones.get(cluster) ?? lacksAggregation(cluster, signal);
  standalones.set(cluster, known);
  return known;
}

/** Cached, because most checks need it. */
const standalones = new WeakMap<Cluster, Promise<boolean>>();

async function lacksAggregation({ transport }: Cluster, signal: AbortSignal): Promise<boolean> {
  const groups = await transport.send({ method: 'GET', path: '/apis' }, signal);
  const names =
    isRecord(groups) && Array.isArray(groups.groups)
      ? groups.groups.filter(isRecord).map(({ name }) => name)
      : [];
  return names.includes(group) && !names.includes('apiregistration.k8s.io');
}

/** The minimum tested version in knative/README.md. */
const triedMinor = 34;

async function checkVersion({ transport, server }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const answer = await transport.send({ method: 'GET', path: '/version' }, signal);
  const { gitVersion = '' } = isRecord(answer) ? answer : {};
  const [, minor = 0] = /^v1\.(\d+)/.exec(String(gitVersion)) ?? [];
  const message = `${gitVersion} at ${server}`;
  if (Number(minor) >= triedMinor) return [passed('Kubernetes', message)];
  const fix = `upgrade the cluster to 1.${triedMinor} or later`;
  return [warning('Kubernetes', `${message} is older than the tested version`, fix)];
}

async function checkApi({ transport }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  try {
    await transport.send({ method: 'GET', path: `/apis/${apiVersion}` }, signal);
    return [passed('ARC API', `${apiVersion} is served`)];
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound', 'ServiceUnavailable')) throw caught;
    return [failed('ARC API', `${apiVersion} is not served: ${caught.message}`, install)];
  }
}

async function checkApiService(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  if (await isStandalone(cluster, signal))
    return [passed('APIService', 'the standalone serves the API itself')];
  const found = await cluster.api.get(apiServices, { name: `${version}.${group}` }, signal);
  if (!found) return [failed('APIService', `${version}.${group} does not exist`, install)];
  const logs = `kubectl logs -n ${conduitNamespace} deployment/api-server`;
  const { caBundle } = isRecord(found.spec) ? found.spec : {};
  const fix = `kubectl rollout restart -n ${conduitNamespace} deployment/certificate-issuer`;
  const certificate =
    typeof caBundle === 'string'
      ? certificateFinding('certificate authority', validTo(caBundle), new Date(), fix)
      : failed('certificate authority', 'the APIService has no caBundle', fix);
  return [conditionFinding('APIService', conditionsOf(found), 'Available', logs), certificate];
}

function validTo(base64: string): Date {
  try {
    return new Date(new X509Certificate(Buffer.from(base64, 'base64')).validTo);
  } catch {
    return new Date(Number.NaN);
  }
}

async function checkDeployments(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  if (await isStandalone(cluster, signal)) return [];
  const { items } = await cluster.api.list(
    deployments,
    // Knative owns the Deployments of functions, one per revision: checkAll covers the functions.
    {
      namespace: conduitNamespace,
      labelSelector: 'app.kubernetes.io/part-of=arc,!serving.knative.dev/service',
    },
    signal,
  );
  if (items.length === 0)
    return [failed('Deployments', `there are none in namespace ${conduitNamespace}`, install)];
  return items.map((item) => {
    const { name } = item.metadata;
    return conditionFinding(
      `Deployment ${name}`,
      conditionsOf(item),
      'Available',
      `kubectl describe -n ${conduitNamespace} deployment/${name}`,
    );
  });
}

/** Checks all objects of a Knative kind in ARC's namespace; a single finding if all are ready. */
async function checkAll(cluster: Cluster, of: Kind, name: string, signal: AbortSignal): Promise<Finding[]> {
  if (await isStandalone(cluster, signal)) return [];
  const found = await listed(cluster, of, signal);
  if (found === undefined)
    return [
      failed(name, `this cluster has no Knative ${of.kind}s`, 'install Knative: see knative/README.md'),
    ];
  if (found.length === 0) return [failed(name, `there are none in namespace ${conduitNamespace}`, install)];
  const findings = found.map((item) => {
    const resource = `${of.plural}.${of.apiVersion.split('/')[0]}/${item.metadata.name}`;
    return conditionFinding(
      `${of.kind} ${item.metadata.name}`,
      conditionsOf(item),
      'Ready',
      `kubectl describe -n ${conduitNamespace} ${resource}`,
    );
  });
  const wrong = findings.filter(({ state }) => state !== 'ok');
  return wrong.length > 0 ? wrong : [passed(name, `${found.length} ready`)];
}

async function checkArgo(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  if (await isStandalone(cluster, signal))
    return [passed('Argo Workflows', 'the standalone runs Workflows itself')];
  const fix = 'install Argo Workflows: see knative/README.md';
  const crd = await cluster.api.get(crds, { name: 'workflows.argoproj.io' }, signal);
  if (!crd) return [failed('Argo Workflows', 'this cluster does not have the Workflow kind', fix)];
  const { items } = await cluster.api.list(deployments, { labelSelector: 'app=workflow-controller' }, signal);
  const [controller] = items;
  if (!controller)
    return [warning('Argo Workflows', 'no Deployment is labelled app=workflow-controller', fix)];
  const { namespace, name } = controller.metadata;
  return [
    conditionFinding(
      'Argo Workflows',
      conditionsOf(controller),
      'Available',
      `kubectl describe -n ${namespace} deployment/${name}`,
    ),
  ];
}

/** Returns a finding for each setting with an unknown name or invalid value. */
async function checkSettings({ api }: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const found = await api.get(configMaps, settingsMap, signal);
  const data = found?.data ?? {};
  const { problems } = parseSettings(data);
  const { namespace, name } = settingsMap;
  const fix = `kubectl edit configmap -n ${namespace} ${name}; docs/operate/tenants.md lists the settings`;
  if (problems.length > 0)
    return problems.map(({ key, message }) => failed(`setting ${key}`, withSimilar(key, message), fix));
  const set = Object.values(data).filter((text) => text.trim() !== '').length;
  return [passed('settings', set === 0 ? 'none is set' : `${set} set`)];
}

function withSimilar(key: string, message: string): string {
  const similar = isSettingKey(key) ? undefined : closest(key, Object.keys(settingsTable));
  return similar === undefined ? message : `${message}: did you mean ${similar}?`;
}

/** Lists objects; undefined if the cluster does not have the kind. */
async function listed({ api }: Cluster, of: Kind, signal: AbortSignal): Promise<KubeObject[] | undefined> {
  try {
    return (
      await api.list(
        of,
        { namespace: conduitNamespace, labelSelector: 'app.kubernetes.io/part-of=arc' },
        signal,
      )
    ).items;
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return undefined;
    throw caught;
  }
}

function conditionsOf({ status }: KubeObject): Record<string, string>[] {
  const conditions =
    isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : [];
  return conditions.map((each) =>
    Object.fromEntries(Object.entries(each).map(([key, value]) => [key, String(value)])),
  );
}
