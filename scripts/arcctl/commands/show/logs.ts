import { Command } from 'commander';
import { ArcError, bytesText, printable, printableLines } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { createLineMasker, type Order } from '#shared/domain';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { logLines } from '../../core/log-stream.ts';
import { collectValues } from '../../core/options.ts';
import { shownPods } from '../../core/pod.ts';
import { orderName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { followRuns, type LogSource } from '../../model/follow-runs.ts';
import { readOrder, readTree, type Unread } from '../../model/read-tree.ts';
import { standingOf, trackUnfinishedOrders } from '../../model/standing.ts';
import { type ArtifactNode, reasonText } from '../../model/tree.ts';

interface LogsOptions {
  artifact?: string[];
  follow?: boolean;
  container: string;
  tail?: string;
}

/** `arcctl logs`: prints the logs of an Order's workers. */
export function logsCommand(io: Io): Command {
  return new Command('logs')
    .description(
      'Print the logs of the workers of an Order; with several artifacts, lines are prefixed with their name',
    )
    .argument('<order>', 'the name of an Order')
    .option('--artifact <name>', 'only this artifact; repeatable', collectValues)
    .option('-f, --follow', 'continue until the Order has ended')
    .option('-c, --container <name>', 'container of the pods', 'main')
    .option('--tail <lines>', 'only the last lines of each log')
    .action(async (name: string, options: LogsOptions, command: Command) => {
      const tailLines = options.tail === undefined ? undefined : Number(options.tail);
      if (tailLines !== undefined && !(Number.isInteger(tailLines) && tailLines >= 0))
        throw usage(`--tail ${JSON.stringify(options.tail)}: give a number of lines`);
      const cluster = await connect(io, globalOptions(command));
      const order = await readOrder(
        cluster.api,
        { namespace: cluster.namespace, name: orderName(name) },
        io.signal,
      );
      const names = (order.spec.artifacts ?? []).map((artifact, index) => artifact.name ?? `#${index}`);
      const unknown = options.artifact?.find((wanted) => !names.includes(wanted));
      if (unknown !== undefined)
        throw new Failure(
          exitCodes.no,
          `Order ${name} has no artifact ${JSON.stringify(unknown)}: it has ${names.join(', ')}`,
        );
      const wanted = options.artifact ?? names;
      const print = printer(io, wanted.length > 1);
      const copy = async ({ artifact, pod }: LogSource): Promise<void> => {
        const { container, follow = false } = options;
        const log = { container, follow, ...(tailLines !== undefined && { tailLines }) };
        // A worker may print nothing for a long time.
        const opened = () => follow && io.note(`${artifact}: following the log of pod ${pod}`);
        // Readers of a log may have no permission to read Secrets, so the log is masked like messages.
        const masked = createLineMasker();
        for await (const line of logLines(cluster, pod, log, io.signal, opened))
          print(artifact, masked(line));
      };
      if (options.follow) await followAll(io, cluster, order, { wanted, copy });
      else await printAll(io, cluster, order, { wanted, copy });
    });
}

/** Formats the worker's final line, its result as JSON, as a sentence; undefined for another line. */
export function outcomeText(line: string): string | undefined {
  if (!line.startsWith('{"outcome":')) return undefined;
  let result: unknown;
  try {
    result = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(result)) return undefined;
  const { outcome, reason, message, digest, bytes, blobs } = result;
  if (outcome === 'failed') return `failed (${String(reason)}): ${String(message)}`;
  const copied =
    isRecord(bytes) && typeof bytes.copied === 'number' ? [`${bytesText(bytes.copied)} copied`] : [];
  const existed =
    isRecord(blobs) && typeof blobs.existed === 'number' ? [`${blobs.existed} blobs existed`] : [];
  return [String(outcome), ...(typeof digest === 'string' ? [digest] : []), ...copied, ...existed].join(', ');
}

interface Copying {
  wanted: readonly string[];
  copy(source: LogSource): Promise<void>;
}

function printer(io: Io, isNamed: boolean) {
  return (artifact: string, line: string) => {
    // A terminal interprets control characters; a pipe gets the raw output.
    const text = io.isTerminal ? printableLines(outcomeText(line) ?? line) : line;
    io.line(isNamed ? `${io.style('dim', `${printable(artifact)}:`)} ${text}` : text);
  };
}

/** Prints one log after another, in the order of the artifacts. */
async function printAll(io: Io, { api }: Cluster, order: Order, { wanted, copy }: Copying): Promise<void> {
  const unread: Unread = new Map();
  const tree = await readTree(api, order, unread, io.signal);
  const why = unread.get(shownPods.plural);
  if (why !== undefined) throw new ArcError('Forbidden', why);
  for (const artifact of tree.artifacts.filter(({ name }) => wanted.includes(name))) {
    const sources = sourcesOf(artifact);
    for (const source of sources)
      await copy(source).catch((caught: unknown) => {
        if (!ArcError.is(caught, 'NotFound', 'BadRequest')) throw caught;
        noteEnd(io, artifact, caught.message);
      });
    if (sources.length === 0) noteEnd(io, artifact, 'no pod');
  }
}

/** Reports an artifact without a log: if the pod is gone, its status may have the end of the log. */
function noteEnd(io: Io, artifact: ArtifactNode, why: string): void {
  const state = reasonText(artifact);
  io.note(
    `${artifact.name}: no log (${why}); it is ${artifact.phase}${state && `: ${printableLines(state)}`}`,
  );
}

function sourcesOf({ name, versions }: ArtifactNode): LogSource[] {
  const [run] = versions.find(({ inForce }) => inForce)?.runs ?? [];
  return (run?.pods ?? []).map((pod) => ({ artifact: name, pod: pod.name }));
}

/** Prints each log as soon as its pod has started, until the Order has ended and all logs are complete. */
async function followAll(io: Io, cluster: Cluster, order: Order, { wanted, copy }: Copying): Promise<void> {
  const openings = trackUnfinishedOrders();
  const copies: Promise<unknown>[] = [];
  const last = await followRuns(cluster, order, {
    onOrder: (each) => openings.see(each),
    onPod(source) {
      if (!wanted.includes(source.artifact)) return;
      const copied = copy(source).catch((caught: unknown) =>
        io.note(`${source.artifact}: ${ArcError.from(caught).message}`),
      );
      copies.push(copied);
    },
    isOver: (current) => !current || standingOf(current, openings.has(current)) !== 'open',
    note: io.note,
    signal: io.signal,
  });
  await Promise.all(copies);
  if (copies.length > 0 || io.signal.aborted) return;
  const { name } = order.metadata;
  io.note(
    last
      ? `no log to follow: Order ${name} is ${last.status?.phase}; see "${cluster.hint(`tree ${name}`)}"`
      : `Order ${name} was deleted`,
  );
}
