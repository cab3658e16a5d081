import { Bookmark, BookmarkPlus, Package, Trash2, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { OrderRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { sortingOf, sortingText, useQuery } from '../data/use-search.ts';
import { useStored } from '../data/use-stored.ts';
import { Sheet } from '../parts/dialog.tsx';
import { countsOf, FilterField, PhaseFilter } from '../parts/filters.tsx';
import { type Column, Grid, nameColumn } from '../parts/grid.tsx';
import { ActionMenu } from '../parts/menu.tsx';
import { NewOrderLink } from '../parts/new-order-link.tsx';
import { Chip, Phase } from '../parts/phase.tsx';
import { CountBar } from '../parts/progress.tsx';
import { Pick } from '../parts/select.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';
import { Ago, Duration } from '../parts/time.tsx';
import { BulkActions } from './bulk-actions.tsx';

/** The Orders that match the filters in the URL. */
export function OrdersPage() {
  const topic = useTopic('orders');
  const [query, setQuery] = useQuery();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const all = rowsOf<OrderRow>(topic, 'orders');
  const [text, namespace, phase, view] = ['q', 'namespace', 'phase', 'view'].map(
    (name) => query.get(name) ?? '',
  ) as [string, string, string, string];
  const others = useMemo(
    () => all.filter((row) => fits(row, { text, namespace, view })),
    [all, text, namespace, view],
  );
  const phases = phase.split(',').filter(Boolean);
  const found = phases.length === 0 ? others : others.filter((row) => phases.includes(row.phase));
  const namespaces = useMemo(() => [...new Set(all.map((row) => row.namespace))].sort(), [all]);
  const chosen = found.filter(({ id }) => selected.has(id));
  return (
    <div className="page fills">
      <PageHead title="Orders" text={topic.isReady && summaryOf(found.length, all.length)}>
        <SavedViews />
        <NewOrderLink />
      </PageHead>
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      <div className="filters">
        <FilterField label="Filter by name" value={text} onChange={(q) => setQuery({ q })} />
        {(namespaces.length > 1 || namespace !== '') && (
          <Pick
            label="Namespace"
            value={namespace}
            choices={[
              { value: '', label: 'All namespaces' },
              ...[...new Set([...namespaces, namespace])]
                .filter(Boolean)
                .map((value) => ({ value, label: value })),
            ]}
            onChange={(value) => setQuery({ namespace: value })}
          />
        )}
        <PhaseFilter
          label="Phase"
          counts={countsOf(others.map((row) => row.phase))}
          chosen={phase}
          onChange={(value) => setQuery({ phase: value })}
        />
        {view === 'person' && (
          <button type="button" className="toggle" aria-pressed="true" onClick={() => setQuery({ view: '' })}>
            Needs attention
            <X size={12} aria-hidden />
          </button>
        )}
      </div>
      {!topic.isReady ? (
        <Pending topic={topic} lines={10} />
      ) : (
        <Grid
          label="Orders"
          columns={columns}
          rows={found}
          keyOf={({ id }) => id}
          linkOf={({ namespace: space, name }) => `/orders/${space}/${name}`}
          sorting={sortingOf(query.get('sort'), '-created')}
          onSort={(sorting) => setQuery({ sort: sortingText(sorting) })}
          selected={selected}
          onSelect={setSelected}
          empty={
            <Empty
              icon={<Package size={26} aria-hidden />}
              title={all.length === 0 ? 'No Orders yet' : 'No Orders found'}
            >
              {all.length === 0 ? (
                <Link href="/new" className="button">
                  Make the first
                </Link>
              ) : (
                <button
                  type="button"
                  className="button"
                  onClick={() => setQuery({ q: '', namespace: '', phase: '', view: '' })}
                >
                  Clear the filters
                </button>
              )}
            </Empty>
          }
        />
      )}
      <BulkActions chosen={chosen} onDone={() => setSelected(new Set())} />
    </div>
  );
}

function summaryOf(found: number, all: number): string {
  return found === all ? countText(all, 'Order') : `${found.toLocaleString()} of ${countText(all, 'Order')}`;
}

function fits(
  row: OrderRow,
  { text, namespace, view }: { text: string; namespace: string; view: string },
): boolean {
  if (namespace !== '' && row.namespace !== namespace) return false;
  if (view === 'person' && !row.needsPerson) return false;
  return text === '' || `${row.namespace}/${row.name}`.includes(text.toLowerCase());
}

const columns: readonly Column<OrderRow>[] = [
  nameColumn('Order', 'minmax(110px, 2fr)'),
  {
    id: 'phase',
    head: 'Phase',
    width: '128px',
    cell: ({ phase }) => <Phase phase={phase} />,
    order: ({ phase }) => phase,
  },
  {
    id: 'artifacts',
    head: 'Artifacts',
    width: '150px',
    from: 760,
    cell: ({ counts }) => (
      <span className="bar-and-text">
        <CountBar counts={counts} />
        <span className="figures">
          {counts.succeeded}/{counts.total}
        </span>
      </span>
    ),
    order: ({ counts }) => counts.total,
  },
  {
    id: 'why',
    head: 'Status',
    width: 'minmax(120px, 3.4fr)',
    from: 760,
    cell: ({ waits, message }) => (
      <span className="why">
        {waits.slice(0, 2).map(({ reason, count, needsPerson }) => (
          <Chip key={reason} tone={needsPerson ? 'bad' : 'warn'}>
            {reason} {count > 1 && count}
          </Chip>
        ))}
        <span className="cut" title={message}>
          {message.split('\n', 1)[0]}
        </span>
      </span>
    ),
  },
  {
    id: 'types',
    head: 'Types',
    width: 'minmax(80px, 0.7fr)',
    from: 1500,
    cell: ({ types }) => <span className="cut">{types.join(', ')}</span>,
    order: ({ types }) => types.join(),
  },
  {
    id: 'duration',
    head: 'Duration',
    width: '96px',
    from: 1100,
    isFigure: true,
    cell: ({ started, completed }) => <Duration from={started} to={completed} />,
  },
  {
    id: 'created',
    head: 'Created',
    width: '84px',
    from: 520,
    isFigure: true,
    cell: ({ created }) => <Ago at={created} />,
    order: ({ created }) => created,
  },
];

interface SavedView {
  name: string;
  search: string;
}

const ready: readonly SavedView[] = [
  { name: 'Needs attention', search: '?view=person' },
  { name: 'Running', search: '?phase=Running' },
  { name: 'Failed, newest first', search: '?phase=Failed&sort=-created' },
];

/** Saved filters: predefined ones, and those stored in this browser. */
function SavedViews() {
  const [saved, setSaved] = useStored<readonly SavedView[]>('arc-views', []);
  const [query, setQuery] = useQuery();
  const current = query.toString();
  const show = (search: string) => {
    const wanted = Object.fromEntries(new URLSearchParams(search));
    setQuery({ q: '', namespace: '', phase: '', view: '', sort: '', ...wanted });
  };
  const [isNaming, setNaming] = useState(false);
  const save = (name: string) => {
    setNaming(false);
    if (name !== '')
      setSaved([...saved.filter((view) => view.name !== name), { name, search: `?${current}` }]);
  };
  const entry = ({ name, search }: SavedView) => ({
    label: name,
    icon: <Bookmark size={14} aria-hidden />,
    isChosen: search === `?${current}`,
    onSelect: () => show(search),
  });
  const isSaved = saved.find(({ search }) => search === `?${current}`);
  return (
    <>
      <Sheet title="Save filters" isOpen={isNaming} onClose={() => setNaming(false)} shape="middle">
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            save(String(new FormData(event.currentTarget).get('name') ?? '').trim());
          }}
        >
          <div className="form-field">
            <label htmlFor="view-name">Name of this view</label>
            <input id="view-name" name="name" className="input" maxLength={60} required autoComplete="off" />
          </div>
          <button type="submit" className="button primary">
            Save
          </button>
        </form>
      </Sheet>
      <ActionMenu
        trigger={
          <button type="button" className="button">
            <Bookmark size={14} aria-hidden />
            Views
          </button>
        }
        groups={[
          ready.map(entry),
          saved.map(entry),
          current === '' || isSaved
            ? []
            : [
                {
                  label: 'Save filters…',
                  icon: <BookmarkPlus size={14} aria-hidden />,
                  onSelect: () => setNaming(true),
                },
              ],
          isSaved
            ? [
                {
                  label: `Delete ${isSaved.name}`,
                  icon: <Trash2 size={14} aria-hidden />,
                  isDangerous: true,
                  onSelect: () => setSaved(saved.filter((view) => view !== isSaved)),
                },
              ]
            : [],
        ]}
      />
    </>
  );
}
