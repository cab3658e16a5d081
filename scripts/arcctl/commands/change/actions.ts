import { Command } from 'commander';
import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { artifactWorkflows, childSelector, orders } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { allOption, collectValues, outputOption, selectorOption, yesOption } from '../../core/options.ts';
import { type OrderAction, orderActions } from '../../core/order-actions.ts';
import { type Format, formatOf, printValue } from '../../core/print.ts';
import { fullName, parseSelection } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { readOrder } from '../../model/read-tree.ts';
import { reasonText, treeOf } from '../../model/tree.ts';

/** Maximum total time that one command spends on waits requested by the API (429). */
const mostWaitMs = 10 * 60_000;
const mostNames = 20;

interface ActionOptions {
  artifact?: string[];
  selector?: string;
  all?: boolean;
  yes?: boolean;
  output?: string;
}

/** `arcctl retry|force|cancel|suspend|resume`. */
export function actionCommands(io: Io): Command[] {
  return orderActions.map((action) => commandOf(io, action));
}

function commandOf(io: Io, action: OrderAction): Command {
  const command = new Command(action.name)
    .description(action.description)
    .argument(
      '[names...]',
      action.kinds.includes(artifactWorkflows) ? 'names of Orders, or aw/NAME' : 'names of Orders',
    )
    .addOption(selectorOption())
    .addOption(allOption())
    .addOption(outputOption(['json', 'yaml', 'name']));
  if (action.asksForAll) command.addOption(yesOption());
  if (action.kinds.includes(artifactWorkflows))
    command.option('--artifact <name>', 'only this artifact of the Order; repeatable', collectValues);
  return command.action(async (names: string[], options: ActionOptions, self: Command) => {
    const format = formatOf(options.output);
    const mustAsk = action.asksForAll && options.all === true && options.yes !== true;
    if (mustAsk && !io.isInteractive)
      throw usage(`${action.name} --all affects every Order of the namespace: confirm it with --yes`);
    const cluster = await connect(io, globalOptions(self));
    const targets = await targetsOf(io, cluster, action, names, options);
    if (mustAsk) await confirm(io, action, targets.length, cluster.namespace);
    await actOnAll(io, cluster, action, targets, format);
  });
}

async function confirm(io: Io, { name }: OrderAction, count: number, namespace: string): Promise<void> {
  const what = count === 1 ? 'the only Order' : `all ${count} Orders`;
  const answer = await io.ask(`arcctl ${name}: ${what} of namespace ${namespace}? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failure(exitCodes.no, 'cancelled: nothing was changed');
}

interface Target {
  kind: Kind;
  name: string;
}

async function targetsOf(
  io: Io,
  { api, namespace }: Cluster,
  { name: verb, kinds }: OrderAction,
  words: readonly string[],
  { artifact, selector, all }: ActionOptions,
): Promise<Target[]> {
  if (words.length === 0) {
    if (selector === undefined && all !== true)
      throw usage(
        `no Orders given: name them, select them with -l, or use --all for the whole namespace: arcctl ${verb} NAME`,
      );
    if (artifact) throw usage('--artifact requires the name of the Order');
    const selection = { namespace, ...(selector !== undefined && { labelSelector: selector }) };
    const { items } = await api.list(orders, selection, io.signal);
    if (items.length === 0) throw new Failure(exitCodes.no, `no Orders found in namespace ${namespace}`);
    return items.map(({ metadata }) => ({ kind: orders, name: metadata.name }));
  }
  if (selector !== undefined || all === true) throw usage('names, -l and --all exclude each other');
  const { kind, names } = words.some((word) => word.includes('/'))
    ? parseSelection(words)
    : { kind: orders, names: words };
  if (!kinds.includes(kind))
    throw usage(`${verb} supports only ${kinds.map((each) => each.plural).join(' and ')}`);
  if (!artifact) return names.map((name) => ({ kind, name }));
  const [order, ...more] = names;
  if (kind !== orders || order === undefined || more.length > 0)
    throw usage('--artifact requires the name of a single Order');
  const read = await readOrder(api, { namespace, name: order }, io.signal);
  const children = { namespace, labelSelector: childSelector(read) };
  const { items } = await api.list(artifactWorkflows, children, io.signal);
  const tree = treeOf({ order: read, artifactWorkflows: items });
  return artifact.map((wanted) => {
    const found = tree.artifacts.find(({ name }) => name === wanted);
    const names = tree.artifacts.map(({ name }) => name).join(', ');
    if (!found)
      throw new Failure(
        exitCodes.no,
        `Order ${order} has no artifact ${JSON.stringify(wanted)}: it has ${names}`,
      );
    const current = found.versions.find(({ inForce }) => inForce);
    if (current) return { kind: artifactWorkflows, name: current.name };
    const why = reasonText(found);
    throw new Failure(
      exitCodes.no,
      `artifact ${wanted} has no ArtifactWorkflow: it is ${found.phase}${why && ` (${why})`}`,
    );
  });
}

async function actOnAll(
  io: Io,
  cluster: Cluster,
  action: OrderAction,
  targets: readonly Target[],
  format: Format | undefined,
): Promise<void> {
  const answers: unknown[] = [];
  const done: Target[] = [];
  const patience = { leftMs: mostWaitMs };
  // One by one: when the API rejects one, those before it have been printed.
  for (const [at, { kind, name }] of targets.entries()) {
    const act = () => action.act(cluster, kind, { namespace: cluster.namespace, name }, io.signal);
    const answer = await actWithRetries(io, act, targets.slice(at), patience);
    answers.push(answer);
    const unneeded = action.unneeded?.(answer);
    if (unneeded === undefined) done.push({ kind, name });
    if (format === undefined) io.line(`${fullName(kind, name)} ${unneeded ?? action.done}`);
    if (format === 'name') io.line(fullName(kind, name));
  }
  if (format === 'json' || format === 'yaml')
    await printValue(
      io,
      format,
      answers.length === 1 ? answers[0] : { apiVersion: 'v1', kind: 'List', items: answers },
    );
  const [first] = done;
  if (io.isTerminal && format === undefined && first?.kind === orders)
    io.note(`Follow it with: ${cluster.hint(`watch ${first.name}`)}`);
}

/** Acts on the first target of `left`, and retries after the delay of a 429, while the retry budget `patience` allows. */
async function actWithRetries(
  io: Io,
  act: () => Promise<unknown>,
  left: readonly Target[],
  patience: { leftMs: number },
): Promise<unknown> {
  for (;;) {
    try {
      return await act();
    } catch (caught) {
      if (!ArcError.is(caught, 'TooManyRequests')) throw caught;
      const seconds = Math.max(1, caught.details?.retryAfterSeconds ?? 1);
      patience.leftMs -= seconds * 1000;
      // Repeating the command with --all would run the finished ones again.
      const names = left.slice(0, mostNames).map(({ name }) => name);
      const more = left.length > names.length ? ` and ${left.length - names.length} more` : '';
      if (patience.leftMs < 0)
        throw new Failure(exitCodes.refused, `${caught.message}\nNot done yet: ${names.join(' ')}${more}`);
      io.note(`${caught.message}\nRetrying ${names[0]} in ${seconds} s; ${left.length} remaining.`);
      await pause(seconds * 1000, io.signal);
    }
  }
}
