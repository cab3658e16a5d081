import { createHash } from 'node:crypto';
import { artifactWorkflows, clusterArtifactTypes, endpoints, group, orders } from '#shared/domain';
import type { KubeObject } from '#shared/meta';

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
  hash: digits('artifact', index).slice(0, 16),
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
  const { namespace, name, hash, digest, image, override } = names(index);
  const spec = {
    defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
    artifacts: [{ type: 'oci', spec: { image, override } }],
  };
  const message = '1 of 1 succeeded';
  const status = {
    observedGeneration: 1,
    phase: 'Succeeded',
    message,
    counts: { total: 1, invalid: 0, pending: 0, running: 0, succeeded: 1, failed: 0, cancelled: 0 },
    artifactWorkflows: {
      [hash]: {
        artifactIndex: 0,
        phase: 'Succeeded',
        artifactWorkflow: `${name}-${hash}`,
        revision: 1,
        completionTime: at(index, 9),
        digest,
      },
    },
    endpointGenerations: { destination: 1, source: 1 },
    secretGenerations: {},
    conditions: conditions(index, message),
    startTime: at(index, 1),
    completionTime: at(index, 9),
  };
  return {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: {
      name,
      namespace,
      uid: uid('order', index),
      creationTimestamp: at(index, 0),
      generation: 1,
      finalizers: [`${group}/children`],
      managedFields: [
        managed(index, 'kubectl', 0, { spec }),
        managed(index, 'arc-decompose-order', 1, { metadata: { finalizers: {} } }),
        managed(index, 'arc-roll-up-order', 9, { status }, 'status'),
      ],
    },
    spec,
    status,
  };
}

/** The ArtifactWorkflow of that Order. */
export function settledWorkflow(index: number): KubeObject {
  const { namespace, name: order, hash, digest, image, override } = names(index);
  const orderUid = uid('order', index);
  const labels = {
    [`${group}/artifact`]: digits('label', index).slice(0, 16),
    [`${group}/order`]: orderUid,
    [`${group}/target`]: digits('target', index).slice(0, 16),
    [`${group}/artifact-type`]: 'oci',
  };
  const parameters = Object.entries({
    srcType: 'oci',
    srcRemoteURL: 'https://registry.example.com',
    srcSecret: 'false',
    dstType: 'oci',
    dstRemoteURL: 'https://mirror.example.com',
    dstSecret: 'false',
    cron: 'false',
    specImage: image,
    specOverride: override,
  }).map(([name, value]) => ({ name, value }));
  const spec = {
    workflowTemplateRef: { name: 'arc-oci-image', clusterScope: true },
    parameters,
    type: 'oci',
    srcRef: { name: 'source', generation: 1, digest: digits('source', 0).slice(0, 16) },
    dstRef: { name: 'destination', generation: 1, digest: digits('destination', 0).slice(0, 16) },
    artifact: { spec: { image, override } },
    revision: 1,
  };
  const name = `${order}-${hash}`;
  const none = { existed: 0, mounted: 0 };
  const status = {
    observedGeneration: 1,
    workflowRef: { kind: 'Workflow', name, attempt: 1 },
    attempts: 1,
    phase: 'Succeeded',
    startTime: at(index, 1),
    progress: `${6_481 + index}/${6_481 + index}`,
    syncedAttempt: 1,
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
  };
  const owner = { apiVersion: orders.apiVersion, kind: orders.kind, name: order, uid: orderUid };
  return {
    apiVersion: artifactWorkflows.apiVersion,
    kind: artifactWorkflows.kind,
    metadata: {
      name,
      namespace,
      uid: uid('workflow', index),
      creationTimestamp: at(index, 0),
      generation: 1,
      labels,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      finalizers: [`${group}/workflow`],
      managedFields: [
        managed(index, 'arc-decompose-order', 0, {
          metadata: { finalizers: {}, labels, ownerReferences: {} },
          spec,
        }),
        managed(
          index,
          'arc-submit-workflow',
          1,
          { status: { attempts: 1, workflowRef: status.workflowRef } },
          'status',
        ),
        managed(index, 'arc-sync-status', 9, { status }, 'status'),
      ],
    },
    spec,
    status,
  };
}

/** What all of them refer to: the type, and the two Endpoints of each namespace. */
export function settledInputs(count: number): KubeObject[] {
  const type: KubeObject = {
    apiVersion: clusterArtifactTypes.apiVersion,
    kind: clusterArtifactTypes.kind,
    metadata: { name: 'oci', uid: uid('type', 0), generation: 1, creationTimestamp: at(0, 0) },
    spec: { workflowTemplateRef: { name: 'arc-oci-image' } },
  };
  const spaces = Array.from({ length: Math.ceil(count / ordersPerNamespace) }, (_, index) => index);
  return [
    type,
    ...spaces.flatMap((space) => [
      settledEndpoint(space, 'source', 'PullOnly'),
      settledEndpoint(space, 'destination', 'PushOnly'),
    ]),
  ];
}

function settledEndpoint(space: number, name: string, usage: string): KubeObject {
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
        ...{ type, status: 'True', reason: type, message: '', observedGeneration: 1 },
        lastTransitionTime: at(0, 0),
      })),
    },
  };
}
