import { printable } from '#shared/base/errors';
import { collectionPath, query } from '#shared/kubernetes/client';
import { createFollower } from '../../core/follower.ts';
import type { Io } from '../../core/io.ts';
import type { Cluster } from '../../core/session.ts';
import { type Request, readRows, shownTable, type Table } from './rows.ts';

/** Limits the output to one screen of changes per second. */
const leastMs = 500;

/**
 * Prints the rows of objects, and each row again with the time when it changes, until Ctrl-C. Unlike `kubectl get --watch` it prints a row only
 * if a cell has changed, reports deletions, reconnects, and coalesces frequent changes.
 */
export async function watchRows(io: Io, cluster: Cluster, request: Request): Promise<void> {
  const { kind, names, namespace, selector, fieldSelector } = request;
  const fields = [
    ...(fieldSelector === undefined ? [] : [fieldSelector]),
    ...(names.length === 1 ? [`metadata.name=${names[0]}`] : []),
  ].join(',');
  const selection = {
    ...(namespace !== undefined && { namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
    ...(fields !== '' && { fieldSelector: fields }),
  };
  await using follower = createFollower(cluster.api, io.signal, io.note);
  const seen = follower.follow(kind, { ...selection, metadataOnly: true });
  const path = `${collectionPath(kind, namespace)}${query({ labelSelector: selector, fieldSelector: fields || undefined })}`;
  const last = new Map<string, string>();
  let widths: number[] = [];
  while (await follower.changed(leastMs)) {
    if (!seen.synced) continue;
    const table = await readRows(io, cluster, path);
    const rows = changedRows(table, names, last);
    if (rows.length === 0) continue;
    const { head, cells } = shownTable(request, [{ ...table, rows }]);
    const isFirst = widths.length === 0;
    widths = head.map((title, column) =>
      Math.max(widths[column] ?? 0, title.length, ...cells.map((row) => (row[column] ?? '').length)),
    );
    const time = new Date().toTimeString().slice(0, 8);
    const padded = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    const print = (row: readonly string[]) =>
      io.line(
        row
          .map((cell) => printable(cell))
          .join('   ')
          .trimEnd(),
      );
    if (isFirst) print(['AT'.padEnd(8), ...padded(head)]);
    for (const row of cells) print([time, ...padded(row)]);
  }
}

/** Returns the rows that differ from those last shown, and the deleted ones, marked as such. The age of an object is ignored. */
function changedRows(table: Table, names: readonly string[], last: Map<string, string>): Table['rows'] {
  const aging = table.columns.findIndex(({ name }) => name === 'AGE');
  const present = table.rows.filter(({ name }) => names.length === 0 || names.includes(name));
  const keys = new Set(present.map(keyOf));
  const gone = [...last.keys()].filter((key) => !keys.has(key));
  const changed = present.filter((row) => {
    const text = JSON.stringify(row.cells.filter((_, column) => column !== aging));
    const isSame = last.get(keyOf(row)) === text;
    last.set(keyOf(row), text);
    return !isSame;
  });
  for (const key of gone) last.delete(key);
  return [
    ...changed,
    ...gone.map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      const cells = table.columns.map((_, column) => (column === 0 ? name : column === 1 ? 'gone' : ''));
      return { cells, namespace, name };
    }),
  ];
}

function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
