import { Command, Option } from 'commander';
import { printable, printableJson } from '#shared/base/errors';
import { isOwnedBy, isoSeconds } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  events,
  group,
  type KubeEvent,
  lastMilestone,
  type Order,
  orders,
} from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import { createFollower } from '../../core/follower.ts';
import type { Io } from '../../core/io.ts';
import { allNamespacesOption } from '../../core/options.ts';
import { orderName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { createEarlyEvents } from '../../model/early-events.ts';
import { readOrder } from '../../model/read-tree.ts';

/** Buffer for Events of ArtifactWorkflows that the watch has not delivered yet. */
const mostEarly = 1000;

interface EventsOptions {
  follow?: boolean;
  allNamespaces?: boolean;
  output?: string;
}

/**
 * `arcctl events`: shows the Events of ARC objects and, with --follow, domain events. The domain events are computed from a watch with the
 * functions' own code, so no Trigger is needed.
 */
export function eventsCommand(io: Io): Command {
  return new Command('events')
    .description('Show the Events of Orders; with --follow also new Events and domain events')
    .argument('[order]', 'only this Order')
    .option('-f, --follow', 'continue until Ctrl-C')
    .addOption(allNamespacesOption())
    .addOption(new Option('-o, --output <format>', 'json: one JSON object per line').choices(['json']))
    .action(async (name: string | undefined, options: EventsOptions, command: Command) => {
      const cluster = await connect(io, globalOptions(command));
      const key = name === undefined ? undefined : { namespace: cluster.namespace, name: orderName(name) };
      const order = key && (await readOrder(cluster.api, key, io.signal));
      const place = options.allNamespaces && !order ? {} : { namespace: cluster.namespace };
      await show(io, cluster, { order, place, isJson: options.output === 'json', ...options });
    });
}

interface Request {
  order: Order | undefined;
  place: { namespace?: string };
  isJson: boolean;
  follow?: boolean;
}

interface Entry {
  time: string;
  type: string;
  /** Kind and name of the object. */
  object: string;
  reason: string;
  message: string;
  json: object;
}

type Print = (entry: Entry) => void;

async function show(io: Io, { api }: Cluster, request: Request): Promise<void> {
  const print: Print = (entry) =>
    io.line(request.isJson ? printableJson(JSON.stringify(entry.json)) : textOf(io, entry));
  if (request.follow === true) await showNew(io, api, request, print);
  else await showAll(io, api, request, print);
}

async function showAll(io: Io, api: KubeClient, { order, place }: Request, print: Print): Promise<void> {
  const uids = new Set([order?.metadata.uid]);
  const own = order ? (await api.list(artifactWorkflows, place, io.signal)).items : [];
  for (const each of own) if (order && isOwnedBy(each, order)) uids.add(each.metadata.uid);
  const { items } = await api.list(events, place, io.signal);
  const isWanted = (event: KubeEvent) => isOfArc(event) && (!order || uids.has(event.involvedObject.uid));
  const found = items.filter(isWanted).map(entryOf).sort(byTime);
  for (const entry of found) print(entry);
  if (found.length === 0)
    io.note('No events found. Events are kept for an hour; --follow waits for new ones.');
}

async function showNew(io: Io, api: KubeClient, { order, place }: Request, print: Print): Promise<void> {
  const { announcements } = await import('#shared/conduit/events');
  await using follower = createFollower(api, io.signal, io.note);
  const uids = new Set([order?.metadata.uid]);
  const news: Entry[] = [];
  const early = createEarlyEvents(mostEarly);
  const isOrder = (each: Order) => !order || each.metadata.uid === order.metadata.uid;
  const seenOrders = follower.follow(orders, place, ({ before, after }) => {
    if (!after?.status || !seenOrders.synced || !isOrder(after)) return;
    const since = before === undefined ? '' : lastMilestone(before);
    for (const { event } of announcements(after, new Date(), since))
      news.push(domainEntry(event, `order/${after.metadata.name}`));
  });
  const seenChildren = follower.follow<ArtifactWorkflow>(artifactWorkflows, place, ({ before, after }) => {
    if (!after) return;
    const { uid = '', name } = after.metadata;
    // Its first Event may have arrived before the object.
    const waiting = early.take(uid);
    if (order && !isOwnedBy(after, order)) return;
    uids.add(uid);
    news.push(...waiting.map(entryOf));
    if (before === undefined || !seenChildren.synced) return;
    for (const { event } of announcements(after, new Date(), lastMilestone(before)))
      news.push(domainEntry(event, `artifactworkflow/${name}`));
  });
  // Listing Events can take long; by then the owners are known.
  while (order && !seenChildren.synced) if (!(await follower.changed(0))) return;
  follower.follow(events, place, ({ after }) => {
    if (!after || !isOfArc(after)) return;
    if (!order || uids.has(after.involvedObject.uid)) news.push(entryOf(after));
    else if (after.involvedObject.kind === artifactWorkflows.kind) early.add(after);
  });
  while (await follower.changed(100)) for (const entry of news.splice(0).sort(byTime)) print(entry);
}

function isOfArc({ involvedObject }: KubeEvent): boolean {
  return involvedObject.apiVersion?.startsWith(`${group}/`) === true;
}

function entryOf(event: KubeEvent): Entry {
  const { involvedObject, type = 'Normal', reason = '', message = '', count = 1 } = event;
  const { kind = '', name = '' } = involvedObject;
  return {
    time: event.lastTimestamp ?? event.firstTimestamp ?? event.metadata.creationTimestamp ?? '',
    object: `${kind.toLowerCase()}/${name}`,
    type,
    reason,
    message: count > 1 ? `${message} (${count} times)` : message,
    json: event,
  };
}

interface DomainEvent {
  type: string;
  time?: string | undefined;
  toJSON(): Record<string, unknown>;
  data?: { phase?: string; message?: string | undefined; digest?: string | undefined } | undefined;
}

function domainEntry(event: DomainEvent, object: string): Entry {
  const { phase = '', message, digest } = event.data ?? {};
  // Kubernetes' times are in whole seconds, and are sorted as strings.
  const time = isoSeconds(Date.parse(event.time ?? '') || Date.now());
  return {
    time,
    object,
    type: 'Domain',
    reason: event.type,
    message: message ?? digest ?? phase,
    json: event.toJSON(),
  };
}

function byTime(a: Entry, b: Entry): number {
  return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}

function textOf(io: Io, { time, type, object, reason, message }: Entry): string {
  const style = type === 'Warning' ? 'yellow' : type === 'Domain' ? 'cyan' : undefined;
  const text = printable(`${time}  ${type.padEnd(7)}  ${object}  ${reason}  ${message.split('\n', 1)[0]}`);
  return style === undefined ? text : io.style(style, text);
}
