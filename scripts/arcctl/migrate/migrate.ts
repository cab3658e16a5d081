import { eachBounded, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isRecord, ownerOfKind } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  annotations,
  artifactTypes,
  artifactWorkflows,
  childSelector,
  clusterArtifactTypes,
  endpoints,
  hasEnded,
  keyOf,
  type Order,
  orders,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import type { Io } from '../core/io.ts';
import { fullName } from '../core/resources.ts';
import type { Cluster } from '../core/session.ts';
import { converted, type Foreign } from './convert.ts';
import { adoptedStatus, hasStopped, mayRun, type Standing, standingOf, standingsOf } from './ended.ts';

/** Dependencies of Orders come first. */
const inOrder: readonly Kind[] = [clusterArtifactTypes, artifactTypes, endpoints, artifactWorkflows, orders];
const mostConflicts = 5;
/** Concurrency: an Order waits for the functions to create its ArtifactWorkflows. */
const width = 8;

interface Migration {
  io: Io;
  cluster: Cluster;
  dryRun: boolean;
  /** Timeout for the functions to create the ArtifactWorkflows of an Order, in ms. */
  patienceMs?: number;
}

/** Returns the kinds that are migrated. */
export function migratedKinds(): readonly Kind[] {
  return inOrder;
}

/**
 * Migrates the objects of the Go ARC. Orders are created suspended; the status of finished artifacts is written, then the Orders are resumed.
 * Idempotent. Resolves with a message per object that could not be migrated.
 */
export async function migrate(migration: Migration, objects: readonly Foreign[]): Promise<string[]> {
  const { io } = migration;
  const transfers = new Map(
    objects
      .filter(({ kind }) => kind === artifactWorkflows.kind)
      .map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]),
  );
  const failures: string[] = [];
  for (const kind of inOrder) {
    // The ArtifactWorkflows of an Order are created anew by the functions.
    const some = objects.filter((one) => one.kind === kind.kind && !isOfOrder(one));
    const failed = await eachBounded(some, width, async (object) => {
      io.signal.throwIfAborted();
      io.line(`${titleOf(kind, object)} ${await migrateOne(migration, kind, object, transfers)}`);
    });
    io.signal.throwIfAborted();
    failures.push(
      ...failed.map(({ item, error }) => `${titleOf(kind, item)}: ${ArcError.from(error).message}`),
    );
  }
  return failures;
}

function isOfOrder(object: Foreign): boolean {
  return object.kind === artifactWorkflows.kind && ownerOfKind(object, 'Order') !== undefined;
}

function titleOf(kind: Kind, { metadata: { name, namespace } }: Foreign): string {
  return `${fullName(kind, name)}${namespace === undefined ? '' : ` of ${namespace}`}`;
}

async function migrateOne(
  { io, cluster, dryRun, patienceMs = 60_000 }: Migration,
  kind: Kind,
  object: Foreign,
  transfers: ReadonlyMap<string, Foreign>,
): Promise<string> {
  const { api } = cluster;
  const isMoved = kind === orders || kind === artifactWorkflows;
  const standings =
    kind === orders ? standingsOf(object, transfers) : new Map([[0, standingOf(object.status ?? {})]]);
  const found = await api.get(kind as Kind<Foreign>, object.metadata, io.signal);
  const origin = object.metadata.uid ?? object.metadata.name;
  if (found !== undefined) {
    const isOurs = isMoved && found.metadata.annotations?.[annotations.migratedFrom] === origin;
    if (!isOurs) return 'exists: skipped';
    if (found.spec?.suspend !== true) return 'was migrated before';
  }
  if (dryRun) return `would be migrated${isMoved ? summaryOf(standings) : ''}`;
  if (!isMoved) {
    await api.create(kind as Kind<Foreign>, converted(object), io.signal);
    return 'migrated';
  }
  const held =
    found ?? (await api.create(kind as Kind<Foreign>, suspended(converted(object), origin), io.signal));
  const deadline = performance.now() + patienceMs;
  const missing = await recordEnds(io, cluster, held, standings, deadline);
  if (missing.length > 0)
    throw new ArcError(
      'ServiceUnavailable',
      `it stays suspended, because finished artifacts have no ArtifactWorkflow: ${missing.join('; ')}. Fix this and run the command again`,
    );
  if ([...standings.values()].some(mayRun))
    return `migrated${summaryOf(standings)}. It stays suspended, because artifacts ran at the export: wait for their end, then run "${cluster.hint(`resume ${held.metadata.name}`)}"`;
  const resume = { spec: { suspend: null } };
  await api.mergePatch(kind, held.metadata, resume, {}, io.signal);
  return `migrated${summaryOf(standings)}`;
}

function suspended(object: Foreign, origin: string): Foreign {
  const { metadata, spec } = object;
  const marks = { ...metadata.annotations, [annotations.migratedFrom]: origin };
  return { ...object, metadata: { ...metadata, annotations: marks }, spec: { ...spec, suspend: true } };
}

function summaryOf(standings: ReadonlyMap<number, Standing>): string {
  const all = [...standings.values()];
  const ended = all.filter(hasStopped).length;
  return all.length === 0 ? '' : `: ${ended} of ${all.length} are finished and do not run again`;
}

/**
 * Writes the status of finished artifacts of an Order, or of an ArtifactWorkflow without an Order. Resolves with the artifacts for which no
 * ArtifactWorkflow appeared in time.
 */
async function recordEnds(
  io: Io,
  cluster: Cluster,
  held: Foreign,
  standings: ReadonlyMap<number, Standing>,
  deadline: number,
): Promise<string[]> {
  const ended = [...standings].filter(([, standing]) => hasStopped(standing));
  if (held.kind === artifactWorkflows.kind) {
    for (const [, standing] of ended) await recordEnd(io, cluster, held as ArtifactWorkflow, standing);
    return [];
  }
  let left = ended;
  for (;;) {
    const order = (await cluster.api.get(orders, held.metadata, io.signal)) ?? (held as Order);
    const { namespace = cluster.namespace } = order.metadata;
    const selection = { namespace, labelSelector: childSelector(order) };
    const { items } = await cluster.api.list(artifactWorkflows, selection, io.signal);
    const children = new Map(items.map((child) => [keyOf(child), child]));
    const entries = new Map(
      Object.entries(order.status?.artifactWorkflows ?? {}).map(([key, entry]) => [
        entry.artifactIndex,
        { key, entry },
      ]),
    );
    const open: typeof ended = [];
    for (const [index, standing] of left) {
      const child = children.get(entries.get(index)?.key ?? '');
      if (child) await recordEnd(io, cluster, child, standing);
      else open.push([index, standing]);
    }
    left = open;
    if (left.length === 0) return [];
    if (performance.now() > deadline)
      return left.map(
        ([index]) => `artifact ${index}: ${entries.get(index)?.entry.message ?? 'no status yet'}`,
      );
    await pause(500, io.signal);
  }
}

async function recordEnd(
  io: Io,
  { api }: Cluster,
  workflow: ArtifactWorkflow,
  standing: Standing,
): Promise<void> {
  let current: ArtifactWorkflow | undefined = workflow;
  for (let conflicts = 0; current !== undefined && !hasEnded(current); conflicts += 1) {
    const status = adoptedStatus(current, standing, new Date());
    if (status === undefined) return;
    const { resourceVersion } = current.metadata;
    const patch = { metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }) }, status };
    try {
      await api.mergePatch(artifactWorkflows, current.metadata, patch, { subresource: 'status' }, io.signal);
      return;
    } catch (caught) {
      if (!ArcError.is(caught, 'Conflict') || conflicts >= mostConflicts) throw caught;
      current = await api.get(artifactWorkflows, workflow.metadata, io.signal);
    }
  }
}

/** True for an object of a kind that is migrated. */
export function isMigrated(object: unknown): object is Foreign {
  return (
    isRecord(object) &&
    inOrder.some(({ kind, apiVersion }) => object.kind === kind && object.apiVersion === apiVersion)
  );
}
