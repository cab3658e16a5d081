import { Command } from 'commander';
import { isRecord, type KubeObject } from '#shared/base/meta';
import { type Endpoint, endpoints, endpointsUsed, events, type KubeEvent, orders } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { printPaged } from '../../core/pager.ts';
import { printTable, printValue } from '../../core/print.ts';
import { type ObjectSelection, parseOrdersOrSelection } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { shippedText } from '../../core/shipped.ts';
import { readOrder, readTree, type Unread } from '../../model/read-tree.ts';
import { type Explanation, explanationsOf, parseStatusTable } from '../../model/status-table.ts';
import type { OrderTree } from '../../model/tree.ts';
import { firstLine, treeRows } from '../../model/tree-rows.ts';

/** `arcctl describe`: shows the state of an object, its Events, and a remedy for each reason on one page. */
export function describeCommand(io: Io): Command {
  return new Command('describe')
    .description('Show an Order, or another object, with its tree, its Events and a remedy for each reason')
    .argument('<names...>', 'names of Orders, KIND NAME..., or KIND/NAME...')
    .action(async (words: string[], _options: object, command: Command) => {
      const asked = parseOrdersOrSelection(words);
      if (asked.names.length === 0) throw usage(`no ${asked.kind.plural} given: name them`);
      const cluster = await connect(io, globalOptions(command));
      await printPaged(io, async (paging) => {
        for (const [index, name] of asked.names.entries()) {
          if (index > 0) paging.line();
          await describe(paging, cluster, asked, name);
        }
      });
    });
}

async function describe(io: Io, cluster: Cluster, { kind }: ObjectSelection, name: string): Promise<void> {
  const { api, namespace } = cluster;
  const reasons = new Set<string>();
  const related = new Set<string | undefined>();
  if (kind === orders) {
    const order = await readOrder(api, { namespace, name }, io.signal);
    const unread: Unread = new Map();
    const tree = await readTree(api, order, unread, io.signal);
    printTable(io, ['NAME', 'PHASE', 'REASON', 'MESSAGE'], treeRows(tree, true));
    for (const [plural, why] of unread) io.note(`Without ${plural}: ${why}`);
    for (const reason of reasonsOf(tree)) reasons.add(reason);
    related.add(`Order/${name}`);
    for (const version of [...tree.artifacts.flatMap((each) => each.versions), ...tree.left])
      related.add(`ArtifactWorkflow/${version.name}`);
  } else {
    const place = kind.namespaced ? { namespace } : {};
    const object = await api.get(kind as Kind<KubeObject>, { ...place, name }, io.signal);
    if (!object)
      throw new Failure(
        exitCodes.no,
        `there is no ${kind.kind} ${name}: see "${cluster.hint(`get ${kind.plural}`)}"`,
      );
    await printObject(io, object);
    if (kind === endpoints) await printUsers(io, cluster, name);
    for (const reason of problemReasons(object)) reasons.add(reason);
    related.add(`${kind.kind}/${name}`);
  }
  printHelp(io, reasons);
  await printEvents(io, cluster, related);
}

async function printObject(
  io: Io,
  { apiVersion, kind, metadata, spec, status }: KubeObject & Partial<Pick<Endpoint, 'spec' | 'status'>>,
) {
  const { name, namespace, labels, annotations, creationTimestamp } = metadata;
  const shown = {
    name,
    ...(namespace && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    creationTimestamp,
  };
  await printValue(io, 'yaml', { apiVersion, kind, metadata: shown, spec, ...(status && { status }) });
}

async function printUsers(io: Io, { api, namespace }: Cluster, name: string): Promise<void> {
  const { items } = await api.list(orders, { namespace }, io.signal);
  const users = items.filter((order) => endpointsUsed(order).includes(name));
  io.line();
  io.line(users.length === 0 ? 'Not used by any Order.' : `Used by ${users.length} Orders:`);
  for (const { metadata, status } of users.slice(0, 20))
    io.line(`  ${metadata.name} (${status?.phase ?? 'Pending'})`);
  if (users.length > 20) io.line(`  and ${users.length - 20} more`);
}

function reasonsOf({ artifacts }: OrderTree): string[] {
  return artifacts.flatMap(({ phase, reason, versions }) => [
    ...(reason === '' && !['Succeeded', 'Running'].includes(phase) ? [phase] : []),
    reason,
    ...versions.filter((each) => each.inForce).map((each) => each.reason),
  ]);
}

/** Returns the reasons of conditions that indicate a problem. */
function problemReasons({ status }: KubeObject & { status?: unknown }): string[] {
  const conditions =
    isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : [];
  return conditions
    .filter(({ type, status: value }) =>
      type === 'Stalled' ? value === 'True' : type === 'Ready' && value !== 'True',
    )
    .map(({ reason }) => String(reason));
}

function printHelp(io: Io, reasons: ReadonlySet<string>): void {
  const all = parseStatusTable(shippedText('docs/status.md'));
  const found = [...reasons]
    .filter((reason) => reason !== '')
    .flatMap((reason) => mostSpecific(explanationsOf(all, reason)));
  if (found.length === 0) return;
  io.line();
  for (const { name, meaning, help } of found) {
    io.line(`${io.style('bold', name)}: ${meaning.replaceAll('`', '')}`);
    if (help !== '') io.line(`  What to do: ${help.replaceAll('`', '')}`);
  }
}

/** Selects the most specific explanations: several kinds share phase names, and the row about artifacts says most. */
function mostSpecific(found: readonly Explanation[]): Explanation[] {
  const [first] = [...found.filter(({ what }) => /artifact/i.test(what)), ...found];
  return first ? [first] : [];
}

const mostEvents = 20;

async function printEvents(io: Io, { api, namespace }: Cluster, related: ReadonlySet<string | undefined>) {
  const { items } = await api.list(events, { namespace }, io.signal);
  const time = ({ lastTimestamp, firstTimestamp, metadata }: KubeEvent) =>
    lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp ?? '';
  const own = items
    .filter(({ involvedObject: { kind, name } }) => related.has(`${kind}/${name}`))
    .sort((a, b) => (time(a) < time(b) ? -1 : 1));
  io.line();
  if (own.length === 0) return io.line('No Events in the last hour.');
  printTable(
    io,
    ['EVENT OF', 'TYPE', 'OBJECT', 'REASON', 'MESSAGE'],
    own.slice(-mostEvents).map((event) => {
      const { type = '', reason = '', message = '', involvedObject } = event;
      const style = type === 'Warning' ? { text: type, style: 'yellow' as const } : type;
      return [
        time(event),
        style,
        `${involvedObject.kind}/${involvedObject.name}`,
        reason,
        firstLine(message),
      ];
    }),
  );
}
