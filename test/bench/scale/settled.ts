import { createHash } from 'node:crypto';
import type { KubeObject } from '#shared/base/meta';
import {
  type ArtifactType,
  type ArtifactWorkflow,
  clusterArtifactTypes,
  type Endpoint,
  endpoints,
  group,
  type Order,
  orders,
  planOrder,
  rollUp,
} from '#shared/domain';

/** A tenant has so many, from and to two Endpoints. */
const ordersPerNamespace = 1_000;
const began = Date.parse('2026-01-05T08:00:00Z');

/** 32 hex digits that differ for each purpose and number, and are the same in each run. */
function digits(purpose: string, index: number): string {
  return createHash('md5').update(`${purpose}/${index}`).digest('hex');
}

function uid(purpose: string, index: number): string {
  const hex = digits(purpose, index);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

function at(index: number, seconds: number): string {
  return new Date(began + index * 1_000 + seconds * 1_000).toISOString().replace('.000Z', 'Z');
}

const names = (index: number) => ({
  namespace: namespaceOfOrder(index),
  name: nameOfOrder(index),
  digest: `sha256:${digits('digest', index)}${digits('digest-end', index)}`,
  image: `team/service-${index % 500}:1.${index % 40}.${index % 7}`,
  override: `mirror/service-${index % 500}:1.${index % 40}.${index % 7}`,
});

export function namespaceOfOrder(index: number): string {
  return `team-${String(Math.floor(index / ordersPerNamespace)).padStart(4, '0')}`;
}

/** Unique, whatever its namespace. */
export function nameOfOrder(index: number): string {
  return `release-${String(index).padStart(7, '0')}`;
}

function conditions(index: number, message: string) {
  const states = [
    ['Ready', 'True', 9],
    ['Reconciling', 'False', 9],
    ['Stalled', 'False', 1],
  ] as const;
  return states.map(([type, status, seconds]) => ({
    type,
    status,
    reason: 'Succeeded',
    message,
    observedGeneration: 1,
    lastTransitionTime: at(index, seconds),
  }));
}

/** Who owns a field, for each leaf, as our API server notes it. */
function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner)]));
}

function managed(index: number, manager: string, seconds: number, fields: object, subresource?: string) {
  return {
    manager,
    operation: 'Update',
    apiVersion: orders.apiVersion,
    time: at(index, seconds),
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsOf(fields),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** The Order with this number: one artifact, which has arrived. All parts of it that an Order has after a real run. */
export function settledOrder(index: number): KubeObject {
  const { order } = settledPair(index);
  const { spec, status } = order;
  const managedFields = [
    managed(index, 'kubectl', 0, { spec }),
    managed(index, 'arc-decompose-order', 1, { metadata: { finalizers: {} } }),
    managed(index, 'arc-roll-up-order', 9, { status }, 'status'),
  ];
  return { ...order, metadata: { ...order.metadata, managedFields } };
}

/** The ArtifactWorkflow of that Order. */
export function settledWorkflow(index: number): KubeObject {
  const { workflow } = settledPair(index);
  const { metadata, spec, status } = workflow;
  const { labels, finalizers } = metadata;
  const submitted = { attempts: 1, workflowRef: status?.workflowRef };
  const managedFields = [
    managed(index, 'arc-decompose-order', 0, { metadata: { finalizers, labels, ownerReferences: {} }, spec }),
    managed(index, 'arc-submit-workflow', 1, { status: submitted }, 'status'),
    managed(index, 'arc-sync-status', 9, { status }, 'status'),
  ];
  return { ...workflow, metadata: { ...metadata, managedFields } };
}

/** As the functions make them, so that nobody has anything to do for them. Argo is not there by now: its templates are missing. */
function settledPair(index: number): { order: Order; workflow: ArtifactWorkflow } {
  const { namespace, name, digest, image, override } = names(index);
  const space = Math.floor(index / ordersPerNamespace);
  const bare: Order = {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: {
      name,
      namespace,
      uid: uid('order', index),
      creationTimestamp: at(index, 0),
      generation: 1,
      finalizers: [`${group}/children`],
    },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: [{ type: 'oci', spec: { image, override } }],
    },
  };
  const inputs = { endpoints: ends(space), types: [theType] };
  const [planned] = planOrder(bare, inputs).artifacts;
  if (planned?.state !== 'ready') throw new Error('the Order of the bench cannot be planned');
  const made = planned.workflow;
  const none = { existed: 0, mounted: 0 };
  const workflow: ArtifactWorkflow = {
    ...made,
    metadata: {
      ...made.metadata,
      uid: uid('workflow', index),
      creationTimestamp: at(index, 0),
      generation: 1,
    },
    spec: { ...made.spec, revision: 1 },
    status: {
      observedGeneration: 1,
      attempts: 1,
      syncedAttempt: 1,
      phase: 'Succeeded',
      workflowRef: { kind: 'Workflow', name: made.metadata.name, attempt: 1 },
      startTime: at(index, 1),
      progress: `${6_481 + index}/${6_481 + index}`,
      conditions: conditions(index, ''),
      completionTime: at(index, 9),
      results: {
        outcome: 'succeeded',
        digest,
        mediaType: 'application/vnd.oci.image.index.v1+json',
        bytes: { copied: 5_795 + index, ...none },
        blobs: { copied: 2, ...none },
        referrers: 0,
      },
    },
  };
  const missingTemplates = [{ name: 'arc-oci-image', clusterScope: true }];
  const plan = planOrder(bare, { ...inputs, missingTemplates });
  const order = { ...bare, status: rollUp(bare, plan, [workflow], new Date(at(index, 9))) };
  return { order, workflow };
}

const endsOfSpaces = new Map<number, Endpoint[]>();

function ends(space: number): Endpoint[] {
  const known = endsOfSpaces.get(space);
  if (known !== undefined) return known;
  const made = [
    settledEndpoint(space, 'source', 'PullOnly'),
    settledEndpoint(space, 'destination', 'PushOnly'),
  ];
  endsOfSpaces.set(space, made);
  return made;
}

const theType: ArtifactType = {
  apiVersion: clusterArtifactTypes.apiVersion,
  kind: clusterArtifactTypes.kind,
  metadata: { name: 'oci', uid: uid('type', 0), generation: 1, creationTimestamp: at(0, 0) },
  spec: { workflowTemplateRef: { name: 'arc-oci-image' } },
};

/** What all of them refer to: the type, and the two Endpoints of each namespace. */
export function settledInputs(count: number): KubeObject[] {
  const spaces = Array.from({ length: Math.ceil(count / ordersPerNamespace) }, (_, index) => index);
  return [theType, ...spaces.flatMap((space) => ends(space))];
}

function settledEndpoint(space: number, name: string, usage: 'PullOnly' | 'PushOnly'): Endpoint {
  const { namespace } = names(space * ordersPerNamespace);
  const states = ['Validated', 'Reachable', 'Authenticated', 'Ready'];
  return {
    apiVersion: endpoints.apiVersion,
    kind: endpoints.kind,
    metadata: { name, namespace, uid: uid(name, space), generation: 1, creationTimestamp: at(0, 0) },
    spec: { type: 'oci', remoteURL: `https://${name}.example.com`, usage },
    status: {
      observedGeneration: 1,
      probed: { generation: 1 },
      lastProbeTime: new Date().toISOString(),
      conditions: states.map((type) => ({
        type,
        status: 'True',
        reason: type,
        message: '',
        observedGeneration: 1,
        lastTransitionTime: at(0, 0),
      })),
    },
  };
}
