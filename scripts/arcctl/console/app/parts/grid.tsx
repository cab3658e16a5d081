import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';

export interface Column<T> {
  id: string;
  head: string;
  /** CSS grid track. */
  width: string;
  cell(row: T): ReactNode;
  /** The sort key; absent: not sortable. */
  order?(row: T): string | number;
  /** Hidden in windows narrower than this, in pixels. */
  from?: number;
  isFigure?: boolean;
}

/** The first column of a list: the name of an object with its namespace. */
export function nameColumn<T extends { name: string; namespace: string }>(
  head: string,
  width: string,
): Column<T> {
  return {
    id: 'name',
    head,
    width,
    cell: ({ name, namespace }) => (
      <span className="two-lines">
        <strong>{name}</strong>
        <small>{namespace}</small>
      </span>
    ),
    order: ({ name }) => name,
  };
}

export interface Sorting {
  id: string;
  isDown: boolean;
}

interface GridProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  /** Link of a row's first cell; absent: `onOpen` is called. */
  linkOf?(row: T): string;
  onOpen?(row: T): void;
  sorting: Sorting;
  onSort(sorting: Sorting): void;
  selected?: ReadonlySet<string>;
  onSelect?(selected: ReadonlySet<string>): void;
  /** Shown without rows. */
  empty: ReactNode;
}

const rowHeight = 44;

/** A virtualized table. Arrow keys or j and k move between rows, Enter opens, x selects. */
export function Grid<T>(props: GridProps<T>) {
  const { label, columns, rows, keyOf, sorting, onSort, selected, onSelect, empty } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWindowWidth();
  const sorted = useMemo(() => sortedBy(rows, columns, sorting), [rows, columns, sorting]);
  const shown = columns.filter(({ from = 0 }) => width >= from);
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (index) => keyOf(sorted[index] as T),
  });
  const isSelectable = selected !== undefined && onSelect !== undefined;
  const tracks = [...(isSelectable ? ['36px'] : []), ...shown.map(({ width }) => width)].join(' ');
  const toggle = useCallback(
    (key: string) => {
      if (!selected || !onSelect) return;
      const next = new Set(selected);
      if (!next.delete(key)) next.add(key);
      onSelect(next);
    },
    [selected, onSelect],
  );
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'checkbox';
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const current = Number(
      (event.target as HTMLElement).closest('[data-index]')?.getAttribute('data-index') ?? -1,
    );
    if (event.key === 'x' && isSelectable && current >= 0) toggle(keyOf(sorted[current] as T));
    if (step === undefined || sorted.length === 0) return;
    event.preventDefault();
    const next = Math.min(sorted.length - 1, Math.max(0, current + step));
    virtual.scrollToIndex(next);
    const focus = () => {
      const link = scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"] .row-link`);
      link?.focus();
      return link !== null && link !== undefined;
    };
    // A row outside the viewport must be rendered first.
    if (!focus()) requestAnimationFrame(focus);
  };
  const all = isSelectable && sorted.every((row) => selected.has(keyOf(row)));
  // An empty table has no role `table`.
  if (sorted.length === 0) return <div className="grid">{empty}</div>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a virtual table are placed by hand, which a <table> does not allow
    <div
      className="grid"
      role="table"
      aria-label={label}
      aria-rowcount={sorted.length + 1}
      onKeyDown={onKey}
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className="grid-head">
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: a row of a table has no focus */}
        <div role="row" className="grid-row" style={{ gridTemplateColumns: tracks }} aria-rowindex={1}>
          {isSelectable && (
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useFocusableInteractive: see above
            <span role="columnheader" className="grid-cell">
              <input
                type="checkbox"
                aria-label="Select all"
                checked={all}
                onChange={() => onSelect(all ? new Set() : new Set(sorted.map(keyOf)))}
              />
            </span>
          )}
          {shown.map((column) => (
            <Head key={column.id} column={column} sorting={sorting} onSort={onSort} />
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="rowgroup" className="grid-body" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = sorted[index] as T;
          const id = keyOf(row);
          return (
            // biome-ignore lint/a11y/useSemanticElements: see above
            // biome-ignore lint/a11y/useFocusableInteractive: its link has the focus
            <div
              key={key}
              role="row"
              data-index={index}
              ref={virtual.measureElement}
              className={`grid-row${selected?.has(id) ? ' is-selected' : ''}`}
              aria-rowindex={index + 2}
              style={{ gridTemplateColumns: tracks, transform: `translateY(${start}px)` }}
            >
              {isSelectable && (
                // biome-ignore lint/a11y/useSemanticElements: see above
                <span role="cell" className="grid-cell">
                  <input
                    type="checkbox"
                    aria-label={`Select ${columns[0]?.order?.(row) ?? id}`}
                    checked={selected.has(id)}
                    onChange={() => toggle(id)}
                  />
                </span>
              )}
              {shown.map((column, at) => (
                // biome-ignore lint/a11y/useSemanticElements: see above
                <span role="cell" key={column.id} className={`grid-cell${column.isFigure ? ' figures' : ''}`}>
                  {at === 0 ? <RowLink {...props} row={row} column={column} /> : column.cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function RowLink<T>({ row, column, linkOf, onOpen }: GridProps<T> & { row: T; column: Column<T> }) {
  if (linkOf)
    return (
      <Link href={linkOf(row)} className="row-link">
        {column.cell(row)}
      </Link>
    );
  if (!onOpen) return column.cell(row);
  return (
    <button type="button" className="row-link" onClick={() => onOpen(row)}>
      {column.cell(row)}
    </button>
  );
}

function Head<T>({
  column,
  sorting,
  onSort,
}: { column: Column<T> } & Pick<GridProps<T>, 'sorting' | 'onSort'>) {
  const { id, head, order, isFigure } = column;
  const isSorted = sorting.id === id;
  const direction = isSorted ? (sorting.isDown ? 'descending' : 'ascending') : undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a virtual table is made of divs
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    <span role="columnheader" className={`grid-cell${isFigure ? ' figures' : ''}`} aria-sort={direction}>
      {order ? (
        <button
          type="button"
          className="head-button"
          onClick={() => onSort({ id, isDown: isSorted && !sorting.isDown })}
        >
          {head}
          {isSorted &&
            (sorting.isDown ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
        </button>
      ) : (
        head
      )}
    </span>
  );
}

function sortedBy<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { id, isDown }: Sorting,
): readonly T[] {
  const order = columns.find((column) => column.id === id)?.order;
  if (!order) return rows;
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [order(a), order(b)];
    return left === right ? 0 : left < right ? -sign : sign;
  });
}

function useWindowWidth(): number {
  const [width, setWidth] = useState(innerWidth);
  useEffect(() => {
    const note = () => setWidth(innerWidth);
    addEventListener('resize', note);
    return () => removeEventListener('resize', note);
  }, []);
  return width;
}
