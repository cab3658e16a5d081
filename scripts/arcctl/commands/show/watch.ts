import { Command } from 'commander';
import { bytesText } from '#shared/base/errors';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  countsBytes,
  labels,
  type Order,
  orders,
  parseProgress,
} from '#shared/domain';
import { createDisplay, type Row } from '../../core/display.ts';
import { exitCodes, Failure } from '../../core/failure.ts';
import { createFollower } from '../../core/follower.ts';
import type { Io } from '../../core/io.ts';
import { allNamespacesOption, selectorOption } from '../../core/options.ts';
import { orderName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { orderProgress, type PartProgress } from '../../model/order-progress.ts';
import { createPace, paceText, secondsText } from '../../model/pace.ts';
import { readOrder } from '../../model/read-tree.ts';
import { standingOf, trackUnfinishedOrders } from '../../model/standing.ts';
import { type ArtifactNode, reasonText, treeOf } from '../../model/tree.ts';
import { firstLine } from '../../model/tree-rows.ts';

interface WatchOptions {
  selector?: string;
  allNamespaces?: boolean;
}

/** Frames per second: smooth enough, and cheap with thousands of artifacts. */
const pictureMs = 250;

/** `arcctl watch`: shows a progress bar per artifact on a terminal, lines elsewhere. Ends with its Orders. */
export function watchCommand(io: Io): Command {
  return new Command('watch')
    .description('Follow Orders with progress bars, rates and remaining time, until they have ended')
    .argument('[orders...]', 'names of Orders; default: all of the namespace, until Ctrl-C')
    .addOption(selectorOption())
    .addOption(allNamespacesOption())
    .action(async (names: string[], options: WatchOptions, command: Command) => {
      const cluster = await connect(io, globalOptions(command));
      const key = (name: string) => ({ namespace: cluster.namespace, name: orderName(name) });
      const named = await Promise.all(names.map((name) => readOrder(cluster.api, key(name), io.signal)));
      await watchOrders(io, cluster, named, options);
    });
}

/** Follows Orders until they have ended. Rejects with a Failure that names the failed ones. */
export async function watchOrders(
  io: Io,
  cluster: Cluster,
  named: readonly Order[],
  options: WatchOptions = {},
): Promise<void> {
  const failed = await follow(io, cluster, named, options);
  if (failed.length > 0)
    throw new Failure(
      exitCodes.no,
      `${failed.join(', ')} did not succeed: see "${cluster.hint(`tree ${failed[0]}`)}", and retry with "${cluster.hint(`retry ${failed.join(' ')}`)}"`,
    );
}

/** Resolves with the failed Orders, restricted to the named ones. */
async function follow(
  io: Io,
  { api, namespace }: Cluster,
  named: readonly Order[],
  { selector, allNamespaces }: WatchOptions,
): Promise<string[]> {
  await using follower = createFollower(api, io.signal, io.note);
  const place: { namespace?: string } = allNamespaces && named.length === 0 ? {} : { namespace };
  const uids = named.map(uidOf);
  const [only] = named;
  const isOne = only !== undefined && named.length === 1;
  const openings = trackUnfinishedOrders();
  const selection = {
    ...place,
    ...(selector !== undefined && { labelSelector: selector }),
    ...(isOne && { fieldSelector: `metadata.name=${only.metadata.name}` }),
  };
  const seen = follower.follow(orders, selection, ({ after }) => {
    if (after) openings.see(after);
  });
  const labelSelector = uids.length === 0 ? labels.order : `${labels.order} in (${uids.join(',')})`;
  const children = follower.follow(artifactWorkflows, { ...place, labelSelector });
  const draw = createDrawing(io, isOne);
  const standing = (order: Order) => standingOf(order, openings.has(order));
  const nothing = createNotifier(() => io.note(nothingYet(place.namespace, selector)));
  // The rate of a stalled transfer decreases without any event.
  while (await follower.changed(pictureMs, io.isTerminal ? 1000 : undefined)) {
    if (!seen.synced || !children.synced) continue;
    const present = seen.values().filter((order) => uids.length === 0 || uids.includes(uidOf(order)));
    draw(present, children.values());
    if (present.length === 0 && named.length === 0) nothing.tell();
    if (uids.length === 0 || present.some((order) => standing(order) === 'open')) continue;
    const gone = named.filter((order) => !present.some((each) => uidOf(each) === uidOf(order)));
    const failed = [...present.filter((order) => standing(order) === 'ended badly'), ...gone];
    return failed.map(({ metadata }) => metadata.name);
  }
  return [];
}

function createNotifier(act: () => void): { tell(): void } {
  let isDone = false;
  return {
    tell() {
      if (!isDone) act();
      isDone = true;
    },
  };
}

function nothingYet(namespace: string | undefined, selector: string | undefined): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const which = selector === undefined ? '' : ` with ${selector}`;
  const elsewhere = namespace === undefined ? '' : ', -A watches all namespaces';
  return `No Orders found${which}${where}: waiting. Ctrl-C stops${elsewhere}.`;
}

function uidOf({ metadata }: Order): string {
  return metadata.uid ?? '';
}

/** The rows, and the data of the total row. */
interface Frame {
  row: Row;
  part: PartProgress;
}

function createDrawing(io: Io, isOne: boolean) {
  const display = createDisplay(io);
  const pace = createPace();
  const rowOf = (lead: string, uid: string, artifact: ArtifactNode): Frame => {
    const { phase, progress } = artifact;
    const isRunning = phase === 'Running';
    const found = pace.note(`${uid}/${artifact.index}`, isRunning ? progress : undefined, performance.now());
    const row = {
      name: `${lead}${artifact.name}`,
      phase,
      progress: isRunning ? tenths(progress, io.isTerminal) : undefined,
      message: reasonText({ ...artifact, message: firstLine(artifact.message) }),
      pace: found && paceText(found, progress),
    };
    const known = parseProgress(progress);
    const isDone = phase === 'Succeeded';
    const part = {
      isDone,
      pace: found,
      ...(known && countsBytes(known.total) && { bytes: isDone ? { ...known, done: known.total } : known }),
      ...(known && { share: isRunning ? known.done / known.total : 0 }),
    };
    return { row, part };
  };
  return (found: readonly Order[], children: readonly ArtifactWorkflow[]) => {
    const byOrder = Map.groupBy(children, ({ metadata }) => metadata.labels?.[labels.order] ?? '');
    const rows = found.flatMap((order) => {
      const { uid = '', name } = order.metadata;
      const tree = treeOf({ order, artifactWorkflows: byOrder.get(uid) ?? [] });
      return tree.artifacts.map((artifact) => rowOf(isOne ? '' : `${name}/`, uid, artifact));
    });
    const total = rows.length > 1 ? totalOf(rows, io.isTerminal) : undefined;
    display.show(
      rows.map(({ row }) => row),
      total,
    );
  };
}

/** Returns the total row: share, rate and remaining time of all artifacts. */
function totalOf(drawn: readonly Frame[], isTerminal: boolean): Row {
  const { share, bytes, bytesPerSecond, secondsLeft } = orderProgress(drawn.map(({ part }) => part));
  const done = drawn.filter(({ part }) => part.isDone).length;
  const rate = bytesPerSecond === undefined ? [] : [`${bytesText(bytesPerSecond)}/s`];
  const left = secondsLeft === undefined ? [] : [`${secondsText(secondsLeft)} left`];
  const moved = bytes > 0 ? [bytesText(bytes)] : [];
  return {
    name: 'total',
    phase: `${done} of ${drawn.length}`,
    progress: tenths(`${Math.floor(share * 1000)}/1000`, isTerminal),
    message: undefined,
    pace: [...moved, ...rate, ...left].join(', '),
  };
}

/** Rounds progress to tenths, to limit the lines in a log. */
function tenths(progress: string, isTerminal: boolean): string {
  const [done = 0, total = 0] = progress.split('/').map(Number);
  if (isTerminal || !(total > 0)) return progress;
  return `${Math.floor((done / total) * 10)}/10`;
}
