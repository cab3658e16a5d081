import { Command } from 'commander';
import type { KubeObject } from '#shared/base/meta';
import { isRecord } from '#shared/base/meta';
import { orders } from '#shared/domain';
import type { Selection } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from '../core/failure.ts';
import { createFollower } from '../core/follower.ts';
import type { Io } from '../core/io.ts';
import { allOption, selectorOption } from '../core/options.ts';
import { fullName, type ObjectSelection, parseOrdersOrSelection } from '../core/resources.ts';
import { type Cluster, connect, durationOf, globalOptions } from '../core/session.ts';
import { type Goal, isOrder, parseGoal, type Verdict, verdictOf } from '../model/goal.ts';
import { trackUnfinishedOrders } from '../model/standing.ts';

interface WaitOptions {
  for: string;
  timeout: string;
  selector?: string;
  all?: boolean;
}

/** `arcctl wait`: waits until objects reach a goal; fails immediately when an Order has ended otherwise. */
export function waitCommand(io: Io): Command {
  return new Command('wait')
    .description('Wait until Orders or other objects have a phase or a condition, or are deleted')
    .argument('[names...]', 'names of Orders, KIND NAME..., or KIND/NAME...')
    .option('--for <goal>', 'phase=NAME, condition=TYPE[=STATUS] or delete', 'phase=Succeeded')
    .option('--timeout <duration>', 'such as 90s or 10m', '5m')
    .addOption(selectorOption())
    .addOption(allOption())
    .action(async (words: string[], options: WaitOptions, command: Command) => {
      const goal = parseGoal(options.for);
      if (!goal)
        throw usage(
          `--for ${JSON.stringify(options.for)}: give phase=NAME, condition=TYPE[=STATUS] or delete`,
        );
      const timeoutMs = durationOf(options.timeout, '--timeout');
      const asked = parseOrdersOrSelection(words);
      if (asked.names.length === 0 && options.selector === undefined && options.all !== true)
        throw usage('no objects given: name them, select them with -l, or use --all for the whole namespace');
      const cluster = await connect(io, globalOptions(command));
      await wait(io, cluster, { ...asked, goal, timeoutMs, ...options });
    });
}

type Request = ObjectSelection & Pick<WaitOptions, 'selector'> & { goal: Goal; timeoutMs: number };

async function wait(io: Io, cluster: Cluster, request: Request): Promise<void> {
  const { api, namespace } = cluster;
  const { kind, names, goal, timeoutMs } = request;
  await using follower = createFollower(api, io.signal, io.note);
  const openings = trackUnfinishedOrders();
  const seen = follower.follow<KubeObject>(kind, selectionOf(request, namespace), ({ after }) => {
    if (after && isOrder(after)) openings.see(after);
  });
  const deadline = performance.now() + timeoutMs;
  let open: string[] | undefined;
  while (await follower.changed(0, Math.max(1, deadline - performance.now()))) {
    if (seen.synced) {
      const present = new Map(seen.values().map((object) => [object.metadata.name, object]));
      open ??= names.length > 0 ? names : [...present.keys()];
      if (open.length === 0 && present.size === 0 && names.length === 0)
        throw new Failure(exitCodes.no, `there are no ${kind.plural} to wait for`);
      open = open.filter((name) => {
        const object = present.get(name);
        const verdict = verdictOf(goal, object, openings);
        if (verdict !== 'open') settle(io, cluster, { name: fullName(kind, name), object, verdict });
        return verdict === 'open';
      });
      if (open.length === 0) return;
    }
    // A timeout of zero checks once.
    if (performance.now() >= deadline && (seen.synced || timeoutMs > 0))
      throw timeoutFailure(open ?? names, request, cluster);
  }
}

function selectionOf({ kind, names, selector }: Request, namespace: string): Selection {
  return {
    ...(kind.namespaced && { namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
    ...(names.length === 1 && { fieldSelector: `metadata.name=${names[0]}` }),
  };
}

function timeoutFailure(open: readonly string[], { kind, timeoutMs }: Request, cluster: Cluster): Failure {
  const names = open.map((name) => fullName(kind, name)).join(', ') || kind.plural;
  return new Failure(
    exitCodes.timeout,
    `${names}: goal not reached after ${timeoutMs / 1000} s; see why with "${cluster.hint(kind === orders && open.length === 1 ? `tree ${open[0]}` : 'tree')}"`,
  );
}

function settle(
  io: Io,
  cluster: Cluster,
  found: { name: string; object: KubeObject | undefined; verdict: Verdict },
): void {
  const { name, object, verdict } = found;
  if (verdict === 'met') {
    io.line(`${name} condition met`);
    return;
  }
  if (object === undefined) throw new Failure(exitCodes.no, `${name} does not exist`);
  const status = isRecord(object.status) ? object.status : {};
  const why = typeof status.message === 'string' ? `: ${status.message}` : '';
  const [what, verb] =
    status.phase === 'Cancelled' ? ['Undo the cancel', 'resume'] : ['Fix the cause, then', 'retry'];
  throw new Failure(
    exitCodes.no,
    `${name} has ended with phase ${status.phase}${why}\n${what}: ${cluster.hint(`${verb} ${object.metadata.name}`)}`,
  );
}
