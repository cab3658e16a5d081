import {
  type ArtifactWorkflow,
  artifactWorkflows,
  endpoints,
  labels,
  type Workflow,
  workflows,
} from '#shared/domain';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';

/** Limits that hold from the beginning of a story to its end. */
export interface Limits {
  /** Of the destination, which every transfer writes to. */
  maxInFlight?: number;
  /** Of the first Order. */
  parallelism?: number;
}

/** The limits that are exceeded by the Workflow that is about to run. Schedules are not limited: Argo starts their runs. */
export function exceeded(kube: FakeApi, started: Workflow): string[] {
  const own = workflowOf(kube, started);
  if (own === undefined) return [];
  const running = kube
    .all(workflows)
    .filter((one) => one.status?.phase === 'Running' && !one.spec.shutdown && !one.metadata.deletionTimestamp)
    .flatMap((one) => workflowOf(kube, one) ?? []);
  const orderOf = ({ metadata }: ArtifactWorkflow) => metadata.labels?.[labels.order];
  const siblings = running.filter((one) => orderOf(one) === orderOf(own));
  const users = running.filter((one) => one.spec.limitedBy?.includes('destination'));
  const most = kube.all(endpoints).find(({ metadata }) => metadata.name === 'destination')?.spec.maxInFlight;
  const { parallelism, limitedBy } = own.spec;
  return [
    ...(parallelism !== undefined && siblings.length >= parallelism
      ? [`${siblings.length + 1} Workflows of an Order run at once, and it allows ${parallelism}`]
      : []),
    ...(most !== undefined && limitedBy?.includes('destination') && users.length >= most
      ? [`${users.length + 1} Workflows write to an Endpoint at once, and it takes ${most}`]
      : []),
  ];
}

/** The ArtifactWorkflow that a Workflow was made for; undefined for a run of a schedule. */
function workflowOf(kube: FakeApi, { metadata }: Workflow): ArtifactWorkflow | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'ArtifactWorkflow');
  const found = owner && kube.read(artifactWorkflows, { ...metadata, name: owner.name });
  return found?.metadata.uid === owner?.uid ? found : undefined;
}
