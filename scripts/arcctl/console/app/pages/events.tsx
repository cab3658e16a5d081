import { Activity } from 'lucide-react';
import { Link } from 'wouter';
import type { EventRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { sortingOf, sortingText, useQuery } from '../data/use-search.ts';
import { useEventFilter } from '../parts/event-filter.tsx';
import { type Column, Grid } from '../parts/grid.tsx';
import { Phase } from '../parts/phase.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

const filter = {
  label: 'Filter by object, reason or message',
  nameOf: ({ namespace, name }: EventRow) => `${namespace}/${name}`,
};

/** The Events of the last hour. */
export default function EventsPage() {
  const topic = useTopic('events');
  const [query, setQuery] = useQuery();
  const all = rowsOf<EventRow>(topic, 'events');
  const { found, controls } = useEventFilter(all, filter);
  return (
    <div className="page fills">
      <PageHead title="Events" text={topic.isReady && countText(found.length, 'Event')} />
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      {controls}
      {topic.isReady ? (
        <Grid
          label="Events"
          columns={columns}
          rows={found}
          keyOf={({ id }) => id}
          sorting={sortingOf(query.get('sort'), '-at')}
          onSort={(sorting) => setQuery({ sort: sortingText(sorting) })}
          empty={
            <Empty icon={<Activity size={26} aria-hidden />} title="No Events found">
              A cluster keeps Events for an hour.
            </Empty>
          }
        />
      ) : (
        <Pending topic={topic} />
      )}
    </div>
  );
}

const columns: readonly Column<EventRow>[] = [
  {
    id: 'reason',
    head: 'Reason',
    width: 'minmax(110px, 1fr)',
    cell: ({ reason, count, isWarning }) => (
      <span className="way">
        <Phase phase={isWarning ? 'warn' : 'ok'} label={reason} />
        {count > 1 && <span className="count">{count}×</span>}
      </span>
    ),
    order: ({ reason }) => reason,
  },
  {
    id: 'object',
    head: 'Object',
    width: 'minmax(120px, 1.3fr)',
    cell: ({ kind, namespace, name }) => (
      <span className="two-lines">
        {kind === 'Order' ? <Link href={`/orders/${namespace}/${name}`}>{name}</Link> : <span>{name}</span>}
        <small>
          {kind} · {namespace}
        </small>
      </span>
    ),
    order: ({ namespace, name }) => `${namespace}/${name}`,
  },
  {
    id: 'message',
    head: 'Message',
    width: 'minmax(160px, 4fr)',
    from: 760,
    cell: ({ message }) => (
      <span className="cut" title={message}>
        {message}
      </span>
    ),
  },
  {
    id: 'component',
    head: 'By',
    width: 'minmax(80px, 0.8fr)',
    from: 1300,
    cell: ({ component }) => <span className="cut quiet">{component}</span>,
    order: ({ component }) => component,
  },
  {
    id: 'at',
    head: 'When',
    width: '84px',
    from: 520,
    isFigure: true,
    cell: ({ at }) => <Ago at={at} />,
    order: ({ at }) => at,
  },
];
