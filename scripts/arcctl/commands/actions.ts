import { Command } from 'commander';
import { artifactWorkflows, orders } from '#shared/domain';
import { type Key, type Kind, objectPath } from '#shared/kube';
import { exitCodes, Failure, usage } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { allOption, collected, outputOption, selectorOption } from '../core/options.ts';
import { type Format, formatOf, printValue } from '../core/print.ts';
import { fullName, parseAsked } from '../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';
import { readOrder, readTree } from '../model/read-tree.ts';

interface ActionOptions {
  artifact?: string[];
  selector?: string;
  all?: boolean;
  output?: string;
}

interface Action {
  name: string;
  description: string;
  /** What is printed after the name of the object. */
  done: string;
  kinds: readonly Kind[];
  act(cluster: Cluster, kind: Kind, key: Key, signal: AbortSignal): Promise<unknown>;
}

/** `arcctl retry|force|cancel|suspend|resume`. */
export function actionCommands(io: Io): Command[] {
  return [
    subresource('retry', 'Run what failed, or was stopped or cancelled, again', 'retry requested', [
      orders,
      artifactWorkflows,
    ]),
    subresource('force', 'Run all artifacts of an Order again, whatever became of them', 'force requested', [
      orders,
    ]),
    subresource(
      'cancel',
      'Stop what runs, and start nothing until resume takes it back',
      'cancel requested',
      [orders, artifactWorkflows],
    ),
    patch('suspend', 'Start nothing new; what runs goes on', 'suspended', { suspend: true }),
    patch('resume', 'Take suspend and cancel of an Order back', 'resumed', { suspend: null, cancel: null }),
  ].map((action) => commandOf(io, action));
}

function subresource(name: string, description: string, done: string, kinds: readonly Kind[]): Action {
  return {
    ...{ name, description, done, kinds },
    act: ({ transport }, kind, key, signal) =>
      transport.send({ method: 'POST', path: objectPath(kind, key, name), body: {} }, signal),
  };
}

function patch(name: string, description: string, done: string, spec: object): Action {
  return {
    ...{ name, description, done, kinds: [orders] },
    act: ({ api }, kind, key, signal) => api.mergePatch(kind, key, { spec }, undefined, signal),
  };
}

function commandOf(io: Io, action: Action): Command {
  const command = new Command(action.name)
    .description(action.description)
    .argument(
      '[names...]',
      action.kinds.includes(artifactWorkflows) ? 'names of Orders, or aw/NAME' : 'names of Orders',
    )
    .addOption(selectorOption())
    .addOption(allOption())
    .addOption(outputOption(['json', 'yaml', 'name']));
  if (action.kinds.includes(artifactWorkflows))
    command.option(
      '--artifact <name>',
      'only this artifact of the Order; may be given more than once',
      collected,
    );
  return command.action(async (names: string[], options: ActionOptions, self: Command) => {
    const format = formatOf(options.output);
    const cluster = await connect(io, globalOptions(self));
    const targets = await targetsOf(io, cluster, action, names, options);
    await actOnAll(io, cluster, action, targets, format);
  });
}

interface Target {
  kind: Kind;
  name: string;
}

async function targetsOf(
  io: Io,
  { api, namespace }: Cluster,
  { name: verb, kinds }: Action,
  words: readonly string[],
  { artifact, selector, all }: ActionOptions,
): Promise<Target[]> {
  if (words.length === 0) {
    if (selector === undefined && all !== true)
      throw usage(
        `which Orders? Name them, select them with -l, or take all of the namespace with --all: arcctl ${verb} NAME`,
      );
    if (artifact) throw usage('--artifact needs the name of its Order');
    const selection = { namespace, ...(selector !== undefined && { labelSelector: selector }) };
    const { items } = await api.list(orders, selection, io.signal);
    if (items.length === 0) throw new Failure(exitCodes.no, `no Orders found in namespace ${namespace}`);
    return items.map(({ metadata }) => ({ kind: orders, name: metadata.name }));
  }
  if (selector !== undefined || all === true) throw usage('give names, or -l, or --all: one of the three');
  const { kind, names } = words.some((word) => word.includes('/'))
    ? parseAsked(words)
    : { kind: orders, names: words };
  if (!kinds.includes(kind))
    throw usage(`${verb} takes ${kinds.map((each) => each.plural).join(' and ')} only`);
  if (!artifact) return names.map((name) => ({ kind, name }));
  const [order, ...more] = names;
  if (kind !== orders || order === undefined || more.length > 0)
    throw usage('--artifact needs the name of one Order');
  const tree = await readTree(
    api,
    await readOrder(api, { namespace, name: order }, io.signal),
    new Map(),
    io.signal,
  );
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
    const why = [found.reason, found.message].filter((text) => text !== '').join(': ');
    throw new Failure(
      exitCodes.no,
      `artifact ${wanted} has no ArtifactWorkflow: it is ${found.phase}${why && ` (${why})`}`,
    );
  });
}

async function actOnAll(
  io: Io,
  cluster: Cluster,
  action: Action,
  targets: readonly Target[],
  format: Format | undefined,
): Promise<void> {
  const answers: unknown[] = [];
  // One after the other: when one is refused, those before it have been printed.
  for (const { kind, name } of targets) {
    answers.push(await action.act(cluster, kind, { namespace: cluster.namespace, name }, io.signal));
    if (format === undefined) io.line(`${fullName(kind, name)} ${action.done}`);
    if (format === 'name') io.line(fullName(kind, name));
  }
  if (format === 'json' || format === 'yaml')
    await printValue(
      io,
      format,
      answers.length === 1 ? answers[0] : { apiVersion: 'v1', kind: 'List', items: answers },
    );
  const [first] = targets;
  if (io.isTerminal && format === undefined && first?.kind === orders)
    io.note(`Follow it with: arcctl watch ${first.name} -n ${cluster.namespace}`);
}
