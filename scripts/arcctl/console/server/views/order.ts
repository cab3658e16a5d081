import { ArcError } from '#shared/base/errors';
import { isOwnedBy } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  countsBytes,
  needsPerson,
  type Order,
  parseProgress,
  phaseOf,
} from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import { orderProgress, type PartProgress } from '../../../model/order-progress.ts';
import type { createPace } from '../../../model/pace.ts';
import { throughputOf } from '../../../model/throughput.ts';
import { type ArtifactNode, treeOf, type VersionNode } from '../../../model/tree.ts';
import type { ArtifactRow, OrderHead, VersionRow, View } from '../../api.ts';
import { offeredForArtifact, offeredForOrder } from '../../model/offered.ts';
import type { Watches } from '../../model/watches.ts';
import { eventRow } from './events.ts';
import { orderRow } from './orders.ts';

type Paces = ReturnType<typeof createPace>;
const mostEvents = 500;

/** Returns the view of one Order. Throws NotFound if it does not exist. */
export function orderView(watches: Watches, { namespace, name }: Key, paces: Paces): View {
  const order = watches.orders
    .values()
    .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (!order)
    throw (
      watches.orders.failure ??
      new ArcError('NotFound', `there is no Order ${name} in namespace ${namespace}`)
    );
  const own = watches.artifactWorkflows.values().filter((each) => isOwnedBy(each, order));
  const byName = new Map(own.map((each) => [each.metadata.name, each]));
  const tree = treeOf({ order, artifactWorkflows: own });
  const artifacts = tree.artifacts.map((node) => artifactRow(order, node, byName, paces));
  const uids = new Set([order, ...own].map(({ metadata }) => metadata.uid));
  const events = watches.events
    .values()
    .filter(({ involvedObject: { uid } }) => uid !== undefined && uids.has(uid));
  return {
    values: { order: headOf(order, artifacts), minutes: throughputOf([order], own, Date.now()) },
    lists: {
      artifacts,
      left: tree.left.map((version) => ({ id: version.name, ...versionRow(version, byName) })),
      events: events
        .map(eventRow)
        .sort((a, b) => (a.at < b.at ? 1 : -1))
        .slice(0, mostEvents),
    },
  };
}

function headOf(order: Order, artifacts: readonly ArtifactRow[]): OrderHead {
  const { metadata, spec } = order;
  return {
    ...orderRow(order),
    uid: metadata.uid ?? '',
    progress: orderProgress(artifacts.map(partOf)),
    actions: offeredForOrder(
      order,
      artifacts.map(({ phase }) => phase),
    ),
    isSuspended: spec.suspend === true,
    isCancelled: spec.cancel === true,
    labels: metadata.labels ?? {},
  };
}

function partOf({ phase, bytes, progress, pace }: ArtifactRow): PartProgress {
  const isDone = phase === 'Succeeded';
  if (isDone) return bytes > 0 ? { isDone, bytes: { done: bytes, total: bytes } } : { isDone };
  const counted = progress?.isBytes ? { bytes: { done: progress.done, total: progress.total } } : {};
  const share = progress ? progress.done / progress.total : 0;
  return { isDone, ...counted, share, ...(progress?.isBytes && { pace }) };
}

function artifactRow(
  order: Order,
  node: ArtifactNode,
  byName: ReadonlyMap<string, ArtifactWorkflow>,
  paces: Paces,
): ArtifactRow {
  const { index, name, type, source, destination, phase, reason, message, since, attempts, versions } = node;
  const current = byName.get(versions.find(({ inForce }) => inForce)?.name ?? '');
  const { startTime = '', completionTime = '', nextAttemptTime = '', results } = current?.status ?? {};
  const { copied = current ? 0 : node.bytesCopied, existed = 0, mounted = 0 } = results?.bytes ?? {};
  const entry = order.spec.artifacts?.[index];
  const known = phase === 'Running' ? parseProgress(node.progress) : undefined;
  const isBytes = known !== undefined && countsBytes(known.total);
  const pace = paces.note(String(index), known ? node.progress : undefined, performance.now());
  return {
    id: String(index),
    index,
    name,
    type,
    source,
    destination,
    phase,
    reason,
    message,
    since,
    attempts,
    subject: subjectOf(entry?.spec ?? {}),
    needsPerson: phase === 'Invalid' || (phase === 'Pending' && needsPerson(reason)),
    started: startTime,
    completed: completionTime,
    nextAttempt: nextAttemptTime,
    digest: node.digest || (results?.digest ?? ''),
    bytes: copied + existed + mounted,
    copied,
    ...(known && { progress: { ...known, isBytes } }),
    ...(pace && { pace }),
    actions: offeredForArtifact(order, phase, current !== undefined),
    versions: versions.map((version) => versionRow(version, byName)),
  };
}

/** Returns the field of a spec that best describes an artifact, regardless of its type. */
function subjectOf(spec: Record<string, unknown>): string {
  const fields = ['image', 'chart', 'path', 'name', 'key', 'url'];
  const text = fields.map((field) => spec[field]).find((value) => typeof value === 'string');
  if (typeof text !== 'string') return '';
  return typeof spec.version === 'string' ? `${text} ${spec.version}` : text;
}

function versionRow(version: VersionNode, byName: ReadonlyMap<string, ArtifactWorkflow>): VersionRow {
  const { name, revision, inForce, reason, message } = version;
  const workflow = byName.get(name);
  return {
    name,
    revision,
    inForce,
    reason,
    message,
    phase: workflow ? phaseOf(workflow) : version.phase,
    created: workflow?.metadata.creationTimestamp ?? '',
    completed: workflow?.status?.completionTime ?? '',
    digest: workflow?.status?.results?.digest ?? '',
  };
}
