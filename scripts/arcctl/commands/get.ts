import { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { collectionPath, type Kind, objectPath, query } from '#shared/kubernetes/client';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { allNamespacesOption, outputOption, selectorOption } from '../core/options.ts';
import { type Format, formatOf, printTable, printValue } from '../core/print.ts';
import { fullName, parseAsked } from '../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';

interface GetOptions {
  output?: string;
  selector?: string;
  allNamespaces?: boolean;
}

/** `arcctl get`: as kubectl, for the kinds of ARC and those of Argo that it makes; Orders where no kind is named. */
export function getCommand(io: Io): Command {
  return new Command('get')
    .description('List Orders, ArtifactWorkflows, Endpoints and types')
    .argument(
      '[kind]',
      'orders (the default), aw, endpoints, at, cat, workflows, cronworkflows, or KIND/NAME',
    )
    .argument('[names...]', 'only these')
    .addOption(outputOption())
    .addOption(selectorOption())
    .addOption(allNamespacesOption())
    .action(async (kind: string | undefined, names: string[], options: GetOptions, command: Command) => {
      const format = formatOf(options.output);
      const asked = parseAsked(kind === undefined ? [] : [kind, ...names]);
      const cluster = await connect(io, globalOptions(command));
      const namespace = options.allNamespaces || !asked.kind.namespaced ? undefined : cluster.namespace;
      await get(io, cluster, { ...asked, ...options, namespace, format });
    });
}

interface Request {
  kind: Kind;
  names: string[];
  selector?: string;
  /** undefined: all. */
  namespace: string | undefined;
  format: Format | undefined;
}

async function get(io: Io, cluster: Cluster, request: Request): Promise<void> {
  const { kind, names, namespace, selector, format } = request;
  if (names.length > 0 && selector !== undefined)
    throw new Failure(exitCodes.usage, 'give names or a selector (-l), not both');
  if (names.length > 0 && kind.namespaced && namespace === undefined)
    throw new Failure(exitCodes.usage, 'a name is of one namespace: leave out -A, or the name');
  const list = `${collectionPath(kind, namespace)}${query({ labelSelector: selector })}`;
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

const tables = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

interface Wanted {
  path: string;
  isList: boolean;
}

/** As many as one request asks for: an answer has a time, and a server bounds what it sends. */
const pageSize = 500;

/** An object, or a list of any length. */
async function readAnswer(
  io: Io,
  { transport }: Cluster,
  { path, isList }: Wanted,
  isWhole: boolean,
): Promise<unknown> {
  const accept = isWhole ? {} : { accept: tables };
  const page = async (
    options: Record<string, string | number | undefined>,
  ): Promise<Record<string, unknown>> => {
    const separator = path.includes('?') ? '&' : '?';
    const more = isList ? query({ limit: pageSize, ...options }).replace('?', separator) : '';
    const answer = await transport.send({ method: 'GET', path: `${path}${more}`, ...accept }, io.signal);
    if (isRecord(answer)) return answer;
    throw new ArcError('InternalError', 'the server did not answer with an object');
  };
  const all = await page({});
  let next = continueOf(all);
  while (next !== undefined) {
    const answer = await page({ continue: next });
    for (const field of ['items', 'rows'] as const) {
      const [known, more] = [all[field], answer[field]];
      if (Array.isArray(known) && Array.isArray(more)) for (const each of more) known.push(each);
    }
    next = continueOf(answer);
  }
  return all;
}

function continueOf({ metadata }: Record<string, unknown>): string | undefined {
  const token = isRecord(metadata) ? metadata.continue : undefined;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

function listOf(found: readonly unknown[], areObjects: boolean): unknown {
  if (!areObjects) return found[0];
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: found };
}

interface Table {
  columns: { name: string; isWide: boolean }[];
  rows: { cells: string[]; namespace: string; name: string }[];
}

/** The printer columns of the server, as kubectl shows them (meta.k8s.io/v1 Table). */
function tableOf(answer: unknown): Table {
  if (!isRecord(answer) || answer.kind !== 'Table')
    throw new ArcError('InternalError', 'the server did not answer with a table: look with -o json');
  const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : []);
  return {
    columns: records(answer.columnDefinitions).map(({ name, priority }) => ({
      name: String(name).toUpperCase(),
      isWide: typeof priority === 'number' && priority > 0,
    })),
    rows: records(answer.rows).map(({ cells, object }) => {
      const metadata = isRecord(object) && isRecord(object.metadata) ? object.metadata : {};
      return {
        cells: (Array.isArray(cells) ? cells : []).map(cellText),
        namespace: String(metadata.namespace ?? ''),
        name: String(metadata.name ?? ''),
      };
    }),
  };
}

function cellText(value: unknown): string {
  return value === undefined || value === null || value === '' ? '<none>' : String(value);
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
    // Names that are not there, and lists that were refused, are failures and said as such.
    if (names.length === 0 && answers.length > 0) io.note(nothingFound(kind, namespace, cluster));
    return;
  }
  const columns = answers[0]?.columns ?? [];
  const shown = columns.flatMap(({ isWide }, index) => (isWide && format !== 'wide' ? [] : [index]));
  const isEverywhere = kind.namespaced && namespace === undefined;
  const head = shown.map((index) => columns[index]?.name ?? '');
  printTable(
    io,
    isEverywhere ? ['NAMESPACE', ...head] : head,
    rows.map((row) => {
      const cells = shown.map((index) => row.cells[index] ?? '');
      return isEverywhere ? [row.namespace, ...cells] : cells;
    }),
  );
}

function nothingFound(kind: Kind, namespace: string | undefined, cluster: Cluster): string {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  if (kind.kind !== 'Order') return `No ${kind.plural} found${where}.`;
  const elsewhere = namespace === undefined ? '' : ', or look in all namespaces with -A';
  return `No orders found${where}. Make one with "${cluster.hint('create')}"${elsewhere}.`;
}
