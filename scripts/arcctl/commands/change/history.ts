import { Command } from 'commander';
import { isoSeconds } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  artifactTypes,
  artifactWorkflows,
  childSelector,
  clusterArtifactTypes,
  type Order,
  orders,
  type Parameter,
  phaseOf,
} from '#shared/domain';
import { objectPath, query } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { collectValues, outputOption } from '../../core/options.ts';
import { formatOf, printTable, printValue } from '../../core/print.ts';
import { fullName, orderName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { readOrder } from '../../model/read-tree.ts';
import { type ArtifactNode, treeOf } from '../../model/tree.ts';
import { inputsOf, withVersionRestored } from '../../model/versions.ts';

interface HistoryOptions {
  artifact?: string[];
  output?: string;
}

/** `arcctl history`: shows the kept versions of an Order's artifacts, the current one first. */
export function historyCommand(io: Io): Command {
  return new Command('history')
    .description('Show the versions of the artifacts of an Order with their inputs')
    .argument('<order>', 'the name of an Order')
    .option('--artifact <name>', 'only this artifact; repeatable', collectValues)
    .addOption(outputOption(['json', 'yaml']))
    .action(async (word: string, { artifact: wanted, output }: HistoryOptions, command: Command) => {
      const format = formatOf(output);
      const cluster = await connect(io, globalOptions(command));
      const { artifacts, children } = await read(io, cluster, orderName(word));
      const shown = artifacts.filter(({ name }) => wanted?.includes(name) ?? true);
      if (shown.length === 0) throw noArtifact(word, wanted?.join(', ') ?? '', artifacts);
      const rows = shown.flatMap(({ name, versions }) =>
        versions.map(({ name: workflow, revision, inForce }) => {
          const child = children.get(workflow);
          return { artifact: name, revision, inForce, workflow, ...(child && detailsOf(child)) };
        }),
      );
      if (format === 'json' || format === 'yaml') return printValue(io, format, rows);
      printTable(
        io,
        ['ARTIFACT', 'REVISION', 'CURRENT', 'PHASE', 'ENDED', 'DIGEST', 'INPUTS'],
        rows.map(({ artifact, revision, inForce, phase = '', ended = '', digest = '', inputs = {} }) => [
          ...[artifact, String(revision), inForce ? 'yes' : '', phase, ended, digest.slice(0, 19)],
          JSON.stringify('spec' in inputs ? inputs.spec : {}),
        ]),
      );
    });
}

interface RollbackOptions {
  artifact?: string;
  to?: string;
  dryRun?: boolean;
}

/** `arcctl rollback`: sets an artifact back to the inputs of an earlier version, which then runs. */
export function rollbackCommand(io: Io): Command {
  return new Command('rollback')
    .description('Set an artifact of an Order back to an earlier version, which then runs again')
    .argument('<order>', 'the name of an Order')
    .option('--artifact <name>', 'the artifact; required if the Order has several')
    .option('--to <revision>', 'REVISION of arcctl history; default: the last earlier one that succeeded')
    .option('--dry-run', 'server-side dry run: validate, but store nothing')
    .action(async (word: string, options: RollbackOptions, command: Command) => {
      if (options.to !== undefined && !/^\d{1,9}$/.test(options.to))
        throw usage(`--to ${JSON.stringify(options.to)}: give a number of "arcctl history"`);
      const cluster = await connect(io, globalOptions(command));
      const name = orderName(word);
      const { order, artifacts, children } = await read(io, cluster, name);
      const artifact = selectedArtifact(name, artifacts, options.artifact);
      const version = versionOf(artifact, children, options.to, cluster.hint(`history ${name}`));
      const parameters = await parametersOf(io, cluster, version.spec.type ?? artifact.type);
      const changed = withVersionRestored(order, artifact.index, version, parameters);
      const { transport } = cluster;
      const key = { namespace: cluster.namespace, name };
      const body = { ...order, spec: { ...order.spec, artifacts: changed } };
      const settings = query({ fieldManager: 'arcctl', dryRun: options.dryRun ? 'All' : undefined });
      await transport.send({ method: 'PUT', path: `${objectPath(orders, key)}${settings}`, body }, io.signal);
      const made = JSON.stringify(changed[artifact.index]?.spec ?? {});
      io.line(
        `${fullName(orders, name)}: artifact ${artifact.name} rolled back to revision ${version.spec.revision ?? 1}, ${made}${options.dryRun ? ' (dry run)' : ''}`,
      );
      if (io.isTerminal && !options.dryRun) io.note(`Follow it with: ${cluster.hint(`watch ${name}`)}`);
    });
}

interface Read {
  order: Order;
  artifacts: ArtifactNode[];
  children: Map<string, ArtifactWorkflow>;
}

async function read(io: Io, { api, namespace }: Cluster, name: string): Promise<Read> {
  const order = await readOrder(api, { namespace, name }, io.signal);
  const selection = { namespace, labelSelector: childSelector(order) };
  const { items } = await api.list(artifactWorkflows, selection, io.signal);
  const { artifacts } = treeOf({ order, artifactWorkflows: items });
  return { order, artifacts, children: new Map(items.map((each) => [each.metadata.name, each])) };
}

function detailsOf(child: ArtifactWorkflow) {
  const { completionTime = '', results } = child.status ?? {};
  return {
    phase: phaseOf(child),
    ended: completionTime === '' ? '' : isoSeconds(Date.parse(completionTime)),
    digest: results?.digest ?? '',
    inputs: inputsOf(child),
  };
}

function selectedArtifact(
  order: string,
  artifacts: readonly ArtifactNode[],
  wanted: string | undefined,
): ArtifactNode {
  const [first] = artifacts;
  const found = wanted === undefined ? first : artifacts.find(({ name }) => name === wanted);
  if (!found) throw noArtifact(order, wanted ?? '', artifacts);
  if (wanted === undefined && artifacts.length > 1)
    throw usage(
      `several artifacts: choose one with --artifact: ${artifacts.map(({ name }) => name).join(', ')}`,
    );
  return found;
}

function noArtifact(order: string, wanted: string, artifacts: readonly ArtifactNode[]): Failure {
  const names = artifacts.map(({ name }) => name).join(', ');
  const has = names === '' ? 'it has none' : `it has ${names}`;
  return new Failure(exitCodes.no, `Order ${order} has no artifact ${JSON.stringify(wanted)}: ${has}`);
}

function versionOf(
  { name, versions }: ArtifactNode,
  children: ReadonlyMap<string, ArtifactWorkflow>,
  to: string | undefined,
  hint: string,
): ArtifactWorkflow {
  const earlier = versions.filter(({ inForce }) => !inForce);
  const found =
    to === undefined
      ? earlier.find(({ phase }) => phase === 'Succeeded')
      : versions.find(({ revision }) => revision === Number(to));
  const version = found && children.get(found.name);
  if (found?.inForce)
    throw new Failure(exitCodes.no, `revision ${to} of artifact ${name} is already the current one`);
  if (version) return version;
  const what = to === undefined ? 'no earlier version that succeeded' : `no revision ${to}`;
  throw new Failure(exitCodes.no, `artifact ${name} has ${what}: see "${hint}"`);
}

/** Returns the parameters of the type: a version contains them, but the Order must not. */
async function parametersOf(
  io: Io,
  { api, namespace }: Cluster,
  type: string,
): Promise<readonly Parameter[]> {
  const own = await api.get(artifactTypes, { namespace, name: type }, io.signal);
  const found = own ?? (await api.get(clusterArtifactTypes, { name: type }, io.signal));
  return found?.spec.parameters ?? [];
}
