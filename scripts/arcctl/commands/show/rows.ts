import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { type Kind, query } from '#shared/kubernetes/client';
import type { Io } from '../../core/io.ts';
import type { Format } from '../../core/print.ts';
import type { Cluster } from '../../core/session.ts';

/** The arguments of `arcctl get`. */
export interface Request {
  kind: Kind;
  names: string[];
  selector?: string;
  fieldSelector?: string;
  /** undefined: all namespaces. */
  namespace: string | undefined;
  format: Format | undefined;
}

const tables = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export interface Wanted {
  path: string;
  isList: boolean;
}

/** Page size: a response has a deadline, and a server limits its size. */
const pageSize = 500;

/** Reads an object, or a list of any length page by page. */
export async function readAnswer(
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
    throw new ArcError('InternalError', 'the response of the server is not an object');
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

export interface Table {
  columns: { name: string; isWide: boolean }[];
  rows: { cells: string[]; namespace: string; name: string }[];
}

/** Reads the rows of a list. */
export async function readRows(io: Io, cluster: Cluster, path: string): Promise<Table> {
  return tableOf(await readAnswer(io, cluster, { path, isList: true }, false));
}

/** Parses the printer columns of the server (meta.k8s.io/v1 Table), as kubectl shows them. */
export function tableOf(answer: unknown): Table {
  if (!isRecord(answer) || answer.kind !== 'Table')
    throw new ArcError('InternalError', 'the response of the server is not a table: use -o json');
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

/** Returns the visible columns, with the namespace if there are several. */
export function shownTable(
  { kind, namespace, format }: Pick<Request, 'kind' | 'namespace' | 'format'>,
  answers: readonly Table[],
): { head: string[]; cells: string[][] } {
  const rows = answers.flatMap((table) => table.rows);
  const columns = answers[0]?.columns ?? [];
  const shown = columns.flatMap(({ isWide }, index) => (isWide && format !== 'wide' ? [] : [index]));
  const isEverywhere = kind.namespaced && namespace === undefined;
  const head = shown.map((index) => columns[index]?.name ?? '');
  return {
    head: isEverywhere ? ['NAMESPACE', ...head] : head,
    cells: rows.map((row) => {
      const cells = shown.map((index) => row.cells[index] ?? '');
      return isEverywhere ? [row.namespace, ...cells] : cells;
    }),
  };
}
