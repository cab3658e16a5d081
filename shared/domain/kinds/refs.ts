import type { KubeObject } from '#shared/base/meta';
import type { CronWorkflow, Workflow, WorkflowTemplate } from './argo.ts';
import type { ArtifactType } from './artifact-type.ts';
import type { ArtifactWorkflow } from './artifact-workflow.ts';
import type { ConfigMap, KubeEvent, Namespace, Pod, Secret } from './core.ts';
import type { Endpoint } from './endpoint.ts';
import type { PendingWorkloads, Workload } from './kueue.ts';
import type { ObjectOf, Ref } from './meta.ts';
import type { Order } from './order.ts';

export const group = 'arc.opendefense.cloud';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const argoApiVersion = 'argoproj.io/v1alpha1';
/** The namespace of the conduit's own objects. */
export const conduitNamespace = 'arc-system';

function ref<T extends KubeObject>(api: string, kind: T['kind'], plural: string, namespaced = true): Ref<T> {
  return { apiVersion: api, kind, plural, namespaced };
}

export const orders = ref<Order>(apiVersion, 'Order', 'orders');
export const artifactWorkflows = ref<ArtifactWorkflow>(apiVersion, 'ArtifactWorkflow', 'artifactworkflows');
export const artifactTypes = ref<ArtifactType>(apiVersion, 'ArtifactType', 'artifacttypes');
export const clusterArtifactTypes = ref<ArtifactType>(
  apiVersion,
  'ClusterArtifactType',
  'clusterartifacttypes',
  false,
);
export const endpoints = ref<Endpoint>(apiVersion, 'Endpoint', 'endpoints');

export const secrets = ref<Secret>('v1', 'Secret', 'secrets');
export const configMaps = ref<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const namespaces = ref<Namespace>('v1', 'Namespace', 'namespaces', false);
export const events = ref<KubeEvent>('v1', 'Event', 'events');
export const serviceAccounts = ref<ObjectOf<'ServiceAccount'>>('v1', 'ServiceAccount', 'serviceaccounts');
export const pods = ref<Pod>('v1', 'Pod', 'pods');

export const workflows = ref<Workflow>(argoApiVersion, 'Workflow', 'workflows');
export const cronWorkflows = ref<CronWorkflow>(argoApiVersion, 'CronWorkflow', 'cronworkflows');
export const workflowTemplates = ref<WorkflowTemplate>(
  argoApiVersion,
  'WorkflowTemplate',
  'workflowtemplates',
);
export const clusterWorkflowTemplates = ref<WorkflowTemplate>(
  argoApiVersion,
  'ClusterWorkflowTemplate',
  'clusterworkflowtemplates',
  false,
);

export const workloads = ref<Workload>('kueue.x-k8s.io/v1beta2', 'Workload', 'workloads');
/** Read with the subresource `pendingworkloads`. */
export const pendingWorkloads = ref<PendingWorkloads>(
  'visibility.kueue.x-k8s.io/v1beta2',
  'PendingWorkloadsSummary',
  'localqueues',
);
