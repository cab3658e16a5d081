import { printable } from '#shared/base/errors';
import { isoSeconds, ownerOfKind } from '#shared/base/meta';
import { artifactWorkflowActions, orderActions } from '../actions/actions.ts';
import { type ArtifactType, artifactTypeSchema } from '../kinds/artifact-type.ts';
import { type ArtifactWorkflow, artifactWorkflowSchema } from '../kinds/artifact-workflow.ts';
import { type Endpoint, endpointSchema } from '../kinds/endpoint.ts';
import { type Order, orderSchema } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { phaseOf } from '../lifecycle/phases.ts';
import { orderSplit, orderStatusRoom } from '../roll-up/order-size.ts';
import { progressText } from '../sync/progress.ts';
import { artifactWorkflowExpiry, orderExpiry } from '../ttl/ttl.ts';
import { orderCauses, orderWarnings } from '../validation/order-causes.ts';
import {
  artifactTypeCauses,
  artifactTypeWarnings,
  artifactWorkflowCauses,
  endpointCauses,
} from '../validation/other-causes.ts';
import {
  artifactWorkflowWithoutEffect,
  endpointWithoutEffect,
  unknownType,
} from '../validation/without-effect.ts';
import { type ArcKind, age, arcKind, firstLine } from './definition.ts';

/** Characters of a user's text in a table cell. */
const longestCell = 60;

const order = arcKind<Order>({
  kind: 'Order',
  shortName: 'ord',
  description:
    'An Order lists artifacts to move from a source to a destination; its status reports on each of them.',
  schema: orderSchema,
  status: true,
  actions: orderActions,
  selectableFields: { 'status.phase': ({ status }) => status?.phase ?? 'Pending' },
  columns: [
    {
      name: 'Phase',
      type: 'string',
      description: 'Where the Order stands.',
      value: ({ status }) => status?.phase ?? 'Pending',
    },
    {
      name: 'Artifacts',
      type: 'integer',
      description: 'Number of artifacts.',
      value: ({ spec, status }) => status?.counts?.total ?? spec.artifacts?.length ?? 0,
    },
    {
      name: 'Succeeded',
      type: 'integer',
      description: 'Artifacts that have arrived.',
      value: ({ status }) => status?.counts?.succeeded ?? 0,
    },
    {
      name: 'Failed',
      type: 'integer',
      description: 'Artifacts that have failed or are invalid.',
      value: ({ status }) => (status?.counts?.failed ?? 0) + (status?.counts?.invalid ?? 0),
    },
    age,
    {
      name: 'Running',
      type: 'integer',
      priority: 1,
      description: 'Artifacts that are being moved.',
      value: ({ status }) => status?.counts?.running ?? 0,
    },
    {
      name: 'Expires',
      type: 'string',
      priority: 1,
      description: 'When it will be deleted.',
      value: (object) => timeOf(orderExpiry(object)),
    },
    {
      name: 'Message',
      type: 'string',
      priority: 1,
      description: 'The state in a sentence.',
      value: ({ status }) => firstLine(status?.message),
    },
  ],
  causes: orderCauses,
  statusRoom: orderStatusRoom,
  sizeAdvice: orderSplit,
  warnings: orderWarnings,
});

const artifactWorkflow = arcKind<ArtifactWorkflow>({
  kind: 'ArtifactWorkflow',
  shortName: 'aw',
  description: 'An ArtifactWorkflow moves one artifact. Orders make them; one can be made by hand too.',
  schema: artifactWorkflowSchema,
  status: true,
  actions: artifactWorkflowActions,
  // Most selective label first.
  indexedLabels: [labels.artifact, labels.target, labels.order, labels.orderName],
  // Functions read all those of an Order at once.
  metadataLimit: 8192,
  selectableFields: { 'spec.type': ({ spec }) => spec.type ?? '', 'status.phase': phaseOf },
  columns: [
    {
      name: 'Order',
      type: 'string',
      description: 'The Order that made it.',
      value: (object) => ownerOfKind(object, 'Order')?.name ?? '',
    },
    {
      name: 'Artifact',
      type: 'string',
      description: 'Name of the artifact in the Order, or the first field of its spec.',
      value: artifactOf,
    },
    {
      name: 'Revision',
      type: 'integer',
      description: 'Which version of the artifact it is.',
      value: ({ spec }) => spec.revision,
    },
    {
      name: 'In Force',
      type: 'boolean',
      description: 'False once a later version is in force, and while it is being deleted.',
      value: isInForce,
    },
    { name: 'Phase', type: 'string', description: 'Where the last attempt stands.', value: phaseOf },
    {
      name: 'Progress',
      type: 'string',
      description: 'Work done of all work.',
      value: ({ status }) => progressText(status?.progress),
    },
    age,
    {
      name: 'Attempts',
      type: 'integer',
      priority: 1,
      description: 'Attempts so far.',
      value: ({ status }) => status?.attempts ?? 0,
    },
    {
      name: 'Type',
      type: 'string',
      priority: 1,
      description: 'Type of artifact.',
      value: ({ spec }) => spec.type ?? '',
    },
    {
      name: 'Digest',
      type: 'string',
      priority: 1,
      description: 'Digest of what arrived.',
      value: ({ status }) => status?.results?.digest ?? '',
    },
    {
      name: 'Expires',
      type: 'string',
      priority: 1,
      description: 'When it will be deleted.',
      value: (object) => timeOf(artifactWorkflowExpiry(object, undefined)),
    },
    {
      name: 'Message',
      type: 'string',
      priority: 1,
      description: 'The state in a sentence.',
      value: ({ status }) => firstLine(status?.message),
    },
  ],
  causes: artifactWorkflowCauses,
  warnings: artifactWorkflowWithoutEffect,
});

const typeColumns = [
  {
    name: 'Workflow',
    type: 'string',
    description: 'The template that does the work.',
    value: ({ spec }: ArtifactType) => spec.workflowTemplateRef.name,
  },
  {
    name: 'Parameters',
    type: 'integer',
    description: 'Number of parameters the type sets.',
    value: ({ spec }: ArtifactType) => spec.parameters?.length ?? 0,
  },
  age,
] as const;

const typeParts = {
  schema: artifactTypeSchema,
  status: false,
  columns: typeColumns,
  causes: artifactTypeCauses,
  warnings: artifactTypeWarnings,
};

const artifactType = arcKind<ArtifactType>({
  ...typeParts,
  kind: 'ArtifactType',
  shortName: 'at',
  description:
    'An ArtifactType says how one type of artifact is moved in this namespace; it hides a ClusterArtifactType of its name.',
});

const clusterArtifactType = arcKind<ArtifactType>({
  ...typeParts,
  kind: 'ClusterArtifactType',
  shortName: 'cat',
  scope: 'Cluster',
  description: 'A ClusterArtifactType says how one type of artifact is moved in every namespace.',
});

const endpoint = arcKind<Endpoint>({
  kind: 'Endpoint',
  shortName: 'aep',
  description: 'An Endpoint is a server that artifacts come from or go to, with its credentials.',
  schema: endpointSchema,
  status: true,
  selectableFields: { 'spec.type': ({ spec }) => spec.type },
  columns: [
    { name: 'Type', type: 'string', description: 'What is there.', value: ({ spec }) => spec.type },
    { name: 'URL', type: 'string', description: 'Where it is.', value: ({ spec }) => spec.remoteURL },
    {
      name: 'Usage',
      type: 'string',
      description: 'Source, destination or both.',
      value: ({ spec }) => spec.usage ?? 'All',
    },
    {
      name: 'Secret',
      type: 'string',
      description: 'Where its credentials are.',
      value: ({ spec }) => spec.secretRef?.name ?? '',
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether it can be used, as far as it was tried.',
      value: ({ status }) => ready(status)?.status ?? 'Unknown',
    },
    age,
    {
      name: 'Policy',
      type: 'string',
      priority: 1,
      description: 'The type whose policy binds what is written there.',
      value: ({ spec }) => spec.policyRef?.name,
    },
    {
      name: 'Message',
      type: 'string',
      priority: 1,
      description: 'Why it is not ready.',
      value: ({ status }) => firstLine(ready(status)?.message),
    },
  ],
  causes: endpointCauses,
  warnings: (object) => [...unknownType(object), ...endpointWithoutEffect(object)],
});

/** Formats a future time as text: date columns print how long ago a time was. */
function timeOf(at: Date | undefined): string {
  return at === undefined ? '' : isoSeconds(at.getTime());
}

function artifactOf({ spec }: ArtifactWorkflow): string {
  const first = spec.parameters?.find(({ name }) => /^spec[A-Z]/.test(name))?.value;
  return printable(spec.artifact?.name ?? first ?? '').slice(0, longestCell);
}

function isInForce({ metadata }: ArtifactWorkflow): boolean {
  return metadata.deletionTimestamp === undefined && metadata.labels?.[labels.superseded] === undefined;
}

function ready(status: Endpoint['status']) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** The five kinds of the group, ready to be served. */
export const arcKinds: readonly ArcKind[] = [
  order,
  artifactWorkflow,
  artifactType,
  clusterArtifactType,
  endpoint,
];
