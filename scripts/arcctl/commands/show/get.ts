import { Command } from 'commander';
import { collectionPath, type Kind, objectPath, query } from '#shared/kubernetes/client';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { allNamespacesOption, outputOption, selectorOption } from '../../core/options.ts';
import { formatOf, printTable, printValue } from '../../core/print.ts';
import { fullName, parseSelection } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { watchRows } from './get-watch.ts';
import { type Request, readAnswer, shownTable, type Table, tableOf, type Wanted } from './rows.ts';

interface GetOptions {
  watch?: boolean;
  fieldSelector?: string;
  output?: string;
  selector?: string;
  allNamespaces?: boolean;
}

/** `arcctl get`: lists objects like kubectl, for ARC kinds and the Argo kinds that ARC creates; default: Orders. */
export function getCommand(io: Io): Command {
  return new Command('get')
    .description('List Orders, ArtifactWorkflows, Endpoints and types')
    .argument(
      '[kind]',
      'orders (the default), aw, endpoints, at, cat, workflows, cronworkflows, or KIND/NAME',
    )
    .argument('[names...]', 'names of objects')
    .addOption(outputOption())
    .addOption(selectorOption())
    .addOption(allNamespacesOption())
    .option('--field-selector <selector>', 'such as status.phase=Failed')
    .option('-w, --watch', 'continue and print changes until Ctrl-C')
    .action(async (kind: string | undefined, names: string[], options: GetOptions, command: Command) => {
      const format = formatOf(options.output);
      const asked = parseSelection(kind === undefined ? [] : [kind, ...names]);
      const cluster = await connect(io, globalOptions(command));
      const namespace = options.allNamespaces || !asked.kind.namespaced ? undefined : cluster.namespace;
      const request = { ...asked, ...options, namespace, format };
      if (!options.watch) return get(io, cluster, request);
      if (format !== undefined && format !== 'wide')
        throw new Failure(exitCodes.usage, '--watch prints a table: leave out -o, or give -o wide');
      await watchRows(io, cluster, request);
    });
}

async function get(io: Io, cluster: Cluster, request: Request): Promise<void> {
  const { kind, names, namespace, selector, fieldSelector, format } = request;
  if (names.length > 0 && (selector ?? fieldSelector) !== undefined)
    throw new Failure(exitCodes.usage, 'names and -l exclude each other');
  if (names.length > 0 && kind.namespaced && namespace === undefined)
    throw new Failure(exitCodes.usage, 'names and -A exclude each other');
  const list = `${collectionPath(kind, namespace)}${query({ labelSelector: selector, fieldSelector })}`;
  const wanted: Wanted[] =
    names.length === 0
      ? [{ path: list, isList: true }]
      : names.map((name) => {
          const key = { name, ...(namespace !== undefined && { namespace }) };
          return { path: objectPath(kind, key), isList: false };
        });
  const results = await Promise.allSettled(
    wanted.map((each) => readAnswer(io, cluster, each, format === 'json' || format === 'yaml')),
  );
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (format === 'json' || format === 'yaml') {
    const isSingle = names.length === 1;
    if (found.length > 0) await printValue(io, format, isSingle ? found[0] : listOf(found, names.length > 0));
  } else {
    printRows(io, cluster, request, found.map(tableOf));
  }
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function listOf(found: readonly unknown[], areObjects: boolean): unknown {
  if (!areObjects) return found[0];
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: found };
}

function printRows(
  io: Io,
  cluster: Cluster,
  { kind, names, namespace, format }: Request,
  answers: readonly Table[],
): void {
  const rows = answers.flatMap((table) => table.rows);
  if (format === 'name') {
    for (const { name } of rows) io.line(fullName(kind, name));
    return;
  }
  if (rows.length === 0) {
    // Missing names and rejected lists are failures, and are reported as such.
    if (names.length === 0 && answers.length > 0) io.note(nothingFound(kind, namespace, cluster));
    return;
  }
  const { head, cells } = shownTable({ kind, namespace, format }, answers);
  printTable(io, head, cells);
}

function nothingFound(kind: Kind, namespace: string | undefined, cluster: Cluster): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  if (kind.kind !== 'Order') return `No ${kind.plural} found${where}.`;
  const elsewhere = namespace === undefined ? '' : ', or look in all namespaces with -A';
  return `No orders found${where}. Create one with "${cluster.hint('create')}"${elsewhere}.`;
}
