import { ownerOfKind } from '#shared/base/meta';
import { type ArtifactType, type ArtifactWorkflow, type Order, phaseOf } from '#shared/domain';
import { throughputOf } from '../../../model/throughput.ts';
import type { BundleRow, OrderRow, TypeRow, View } from '../../api.ts';
import type { Watches } from '../../model/watches.ts';
import { endpointRows } from './endpoints.ts';
import { orderRow } from './orders.ts';

const mostShown = 50;

/** Returns the overview: running transfers, recent failures, Orders that need attention, throughput. */
export function overviewView(watches: Watches): View {
  const rows = watches.orders.values().map(orderRow);
  const newest = rows.toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1));
  const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
  const isRecent = (row: OrderRow) => endOf(row) >= dayAgo;
  const failed = newest.filter((row) => row.phase === 'Failed' && isRecent(row));
  const waiting = newest.filter((row) => row.needsPerson && row.phase !== 'Failed');
  const running = newest.filter(({ phase }) => phase === 'Running');
  const endpoints = endpointRows(watches.endpoints.values(), []);
  return {
    values: {
      minutes: throughputOf(watches.orders.values(), watches.artifactWorkflows.values(), Date.now()),
      totals: {
        orders: rows.length,
        running: running.length,
        failed: failed.length,
        waiting: waiting.length,
        succeeded: newest.filter((row) => row.phase === 'Succeeded' && isRecent(row)).length,
        artifactsRunning: rows.reduce((total, { counts }) => total + counts.running, 0),
        endpoints: endpoints.length,
        endpointsBroken: endpoints.filter(({ state }) => state === 'broken').length,
      },
    },
    lists: {
      running: running.slice(0, mostShown),
      failed: failed.slice(0, mostShown),
      waiting: waiting.slice(0, mostShown),
      recent: newest.slice(0, 8),
      broken: endpoints.filter(({ state }) => state === 'broken').slice(0, mostShown),
    },
  };
}

function endOf({ completed, started, created }: OrderRow): string {
  return completed || started || created;
}

/** Returns the types of the cluster and of namespaces, with the number of artifacts that use them. */
export function typeRows(types: readonly ArtifactType[], orders: readonly Order[]): TypeRow[] {
  const users = new Map<string, number>();
  for (const { spec } of orders)
    for (const { type } of spec.artifacts ?? []) users.set(type, (users.get(type) ?? 0) + 1);
  return types.map(({ metadata, spec }) => {
    const { namespace = '', name, uid = '' } = metadata;
    const { workflowTemplateRef, rules = {}, parameters = [], schema } = spec;
    return {
      id: uid,
      namespace,
      name,
      template: workflowTemplateRef.name,
      sources: rules.srcTypes ?? [],
      destinations: rules.dstTypes ?? [],
      parameters: parameters.map((each) => ({ name: each.name, value: String(each.value) })),
      ...(schema !== undefined && { schema }),
      hasPolicy: parameters.some((each) => each.name === 'policy'),
      users: users.get(name) ?? 0,
    };
  });
}

/** Returns the bundles that Orders export or import. */
export function bundleRows(children: readonly ArtifactWorkflow[]): BundleRow[] {
  return children.filter(({ spec }) => directionOf(spec.type) !== undefined).map(bundleRow);
}

function directionOf(type: string | undefined): BundleRow['direction'] | undefined {
  return type === 'bundle-export' ? 'export' : type === 'bundle-import' ? 'import' : undefined;
}

function bundleRow(child: ArtifactWorkflow): BundleRow {
  const { metadata, spec, status = {} } = child;
  const { name, namespace = '', uid = name } = metadata;
  const direction = directionOf(spec.type) ?? 'export';
  const { copied = 0, existed = 0, mounted = 0 } = status.results?.bytes ?? {};
  const { items } = status.results ?? {};
  const bundle = spec.artifact?.spec?.name;
  return {
    id: uid,
    namespace,
    order: ownerOfKind(child, 'Order')?.name ?? '',
    direction,
    artifact: spec.artifact?.name ?? name,
    bundle: typeof bundle === 'string' ? bundle : '',
    endpoint: (direction === 'export' ? spec.dstRef : spec.srcRef)?.name ?? '',
    phase: phaseOf(child),
    message: status.message ?? '',
    completed: status.completionTime ?? '',
    bytes: copied + existed + mounted,
    ...(items && { items: itemsOf(items) }),
  };
}

function itemsOf({
  total,
  copied,
  unchanged,
  failed,
}: NonNullable<BundleRow['items']>): NonNullable<BundleRow['items']> {
  return { total, copied, unchanged, failed };
}
