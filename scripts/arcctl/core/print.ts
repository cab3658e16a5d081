import { printable, printableJson, printableLines } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { usage } from './failure.ts';
import type { Io } from './io.ts';
import { cutTo, padTo, widthOf } from './width.ts';

/** Values of `-o`. */
export const formats = ['json', 'yaml', 'name', 'wide'] as const;
export type Format = (typeof formats)[number];

/** Parses `-o`; undefined for the default output. */
export function formatOf(text: string | undefined): Format | undefined {
  if (text === undefined || text === '') return undefined;
  const found = formats.find((format) => format === text);
  if (found === undefined) throw usage(`-o ${JSON.stringify(text)}: use one of ${formats.join(', ')}`);
  return found;
}

/** Prints a value as JSON or YAML; API objects without `managedFields`, as kubectl does. */
export async function printValue(io: Io, format: 'json' | 'yaml', value: unknown): Promise<void> {
  const shown = withoutManagedFields(value);
  if (format === 'json') {
    io.line(printableJson(JSON.stringify(shown, null, 2)));
    return;
  }
  const { Document, visit } = await import('yaml');
  const document = new Document(shown);
  // A double-quoted YAML string supports the JSON escapes.
  visit(document, {
    Scalar(_, scalar) {
      const { value } = scalar;
      if (typeof value === 'string' && printableLines(value) !== value) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  io.write(printableJson(document.toString({ lineWidth: 0 })));
}

function withoutManagedFields(value: unknown): unknown {
  if (!isRecord(value)) return value;
  if (Array.isArray(value.items)) return { ...value, items: value.items.map(withoutManagedFields) };
  if (!isRecord(value.metadata)) return value;
  const { managedFields: _, ...metadata } = value.metadata;
  return { ...value, metadata };
}

/** A cell of a table, optionally with a style. */
export type Cell = string | { text: string; style: Parameters<Io['style']>[0] };

/** Prints columns like kubectl, separated by three spaces. On a terminal, lines are truncated to its width. */
export function printTable(io: Io, head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines: readonly (readonly Cell[])[] = head.length > 0 ? [head, ...rows] : rows;
  const widths = head.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, widthOf(textOf(line[column]))), 0),
  );
  const room = io.isTerminal ? io.columns() : Number.POSITIVE_INFINITY;
  for (const line of lines) {
    let left = room;
    const parts = line.map((cell, column) => {
      const isLast = column === line.length - 1;
      const text = textOf(cell);
      const padded = isLast ? text : padTo(text, (widths[column] ?? 0) + 3);
      const cut = widthOf(padded) > left ? cutTo(`${cutTo(padded, left - 1)}…`, left) : padded;
      left -= widthOf(cut);
      return typeof cell === 'object' ? io.style(cell.style, cut) : cut;
    });
    io.line(parts.join('').trimEnd());
  }
}

function textOf(cell: Cell | undefined): string {
  const text = typeof cell === 'object' ? cell.text : (cell ?? '');
  return printable(text);
}
