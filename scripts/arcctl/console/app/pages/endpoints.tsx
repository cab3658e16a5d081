import { KeyRound, Network } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { EndpointRow, EventRow } from '../../api.ts';
import { countText } from '../data/format.ts';
import { rowsOf, useTopic } from '../data/topic.ts';
import { sortingOf, sortingText, useQuery } from '../data/use-search.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Sheet } from '../parts/dialog.tsx';
import { countsOf, FilterField, PhaseFilter } from '../parts/filters.tsx';
import { type Column, Grid, nameColumn } from '../parts/grid.tsx';
import { Chip, Phase, PhaseIcon } from '../parts/phase.tsx';
import { Empty, Notice, PageHead, Pending } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

/** The Endpoints, unusable ones first, with probe results and the Orders that use them. */
export default function EndpointsPage() {
  const topic = useTopic('endpoints');
  const [query, setQuery] = useQuery();
  const all = rowsOf<EndpointRow>(topic, 'endpoints');
  const [text, state, open] = ['q', 'state', 'open'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const others = useMemo(
    () => all.filter(({ namespace, name, url }) => `${namespace}/${name} ${url}`.includes(text)),
    [all, text],
  );
  const states = state.split(',').filter(Boolean);
  const found = states.length === 0 ? others : others.filter((row) => states.includes(row.state));
  const chosen = all.find(({ id }) => id === open);
  const events = rowsOf<EventRow>(topic, 'events').filter(
    ({ namespace, name }) => namespace === chosen?.namespace && name === chosen.name,
  );
  return (
    <div className="page fills">
      <PageHead title="Endpoints" text={topic.isReady && countText(all.length, 'Endpoint')} />
      {topic.problem && <Notice>{topic.problem.message}</Notice>}
      <div className="filters">
        <FilterField label="Filter by name or URL" value={text} onChange={(q) => setQuery({ q })} />
        <PhaseFilter
          label="State"
          counts={countsOf(others.map((row) => row.state))}
          chosen={state}
          onChange={(value) => setQuery({ state: value })}
          names={stateNames}
        />
      </div>
      {topic.isReady ? (
        <Grid
          label="Endpoints"
          columns={columns}
          rows={found}
          keyOf={({ id }) => id}
          onOpen={({ id }) => setQuery({ open: id })}
          sorting={sortingOf(query.get('sort'), 'state')}
          onSort={(sorting) => setQuery({ sort: sortingText(sorting) })}
          empty={<Empty icon={<Network size={26} aria-hidden />} title="No Endpoints found" />}
        />
      ) : (
        <Pending topic={topic} />
      )}
      <Sheet title={chosen?.name ?? ''} isOpen={chosen !== undefined} onClose={() => setQuery({ open: '' })}>
        {chosen && <Details endpoint={chosen} events={events} />}
      </Sheet>
    </div>
  );
}

const stateOrder = { broken: 0, unknown: 1, ready: 2 };
const stateNames = { broken: 'Not ready', unknown: 'Not probed', ready: 'Ready' };

function readyMessage({ conditions }: EndpointRow): string {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready && ready.status !== 'True' ? [ready.reason, ready.message].filter(Boolean).join(': ') : '';
}

const columns: readonly Column<EndpointRow>[] = [
  nameColumn('Endpoint', 'minmax(110px, 1.2fr)'),
  {
    id: 'state',
    head: 'State',
    width: '122px',
    cell: ({ state }) => <Phase phase={state} label={stateNames[state]} />,
    order: ({ state, namespace, name }) => `${stateOrder[state]} ${namespace}/${name}`,
  },
  {
    id: 'url',
    head: 'Server',
    width: 'minmax(150px, 2fr)',
    from: 760,
    cell: ({ url, type, hasCredentials }) => (
      <span className="way">
        <Chip>{type}</Chip>
        <code className="cut">{url}</code>
        {hasCredentials && <KeyRound size={13} className="quiet" aria-label="with credentials" />}
      </span>
    ),
    order: ({ url }) => url,
  },
  {
    id: 'why',
    head: 'Finding',
    width: 'minmax(120px, 2fr)',
    from: 1000,
    cell: (row) => (
      <span className="cut tone-bad" title={readyMessage(row)}>
        {readyMessage(row)}
      </span>
    ),
  },
  {
    id: 'usage',
    head: 'Use',
    width: '92px',
    from: 1300,
    cell: ({ sides }) => usageText(sides),
    order: ({ sides }) => usageText(sides),
  },
  {
    id: 'users',
    head: 'Orders',
    width: '74px',
    from: 760,
    isFigure: true,
    cell: ({ users }) => users,
    order: ({ users }) => users,
  },
  {
    id: 'slots',
    head: 'Transfers',
    width: '86px',
    from: 1300,
    isFigure: true,
    cell: ({ inFlight, maxInFlight }) =>
      maxInFlight === null ? <span className="quiet">–</span> : `${inFlight}/${maxInFlight}`,
  },
  {
    id: 'probe',
    head: 'Probed',
    width: '84px',
    from: 520,
    isFigure: true,
    cell: ({ lastProbe }) => <Ago at={lastProbe} />,
    order: ({ lastProbe }) => lastProbe,
  },
];

function usageText(sides: EndpointRow['sides']): string {
  if (sides.length > 1) return 'Both';
  return { source: 'Source', destination: 'Destination', none: 'None' }[sides[0] ?? 'none'];
}

function Details({ endpoint, events }: { endpoint: EndpointRow; events: readonly EventRow[] }) {
  const {
    state,
    url,
    type,
    sides,
    conditions,
    usedBy,
    users,
    namespace,
    allowedTypes,
    policy,
    hasCredentials,
  } = endpoint;
  return (
    <>
      <div className="sheet-top">
        <Phase phase={state} label={stateNames[state]} />
      </div>
      <dl className="details">
        <dt>Server</dt>
        <dd>
          <code>{url}</code> <CopyButton text={url} what="address" />
        </dd>
        <dt>Type</dt>
        <dd>{type}</dd>
        <dt>Namespace</dt>
        <dd>{namespace}</dd>
        <dt>Use</dt>
        <dd>{usageText(sides)}</dd>
        <dt>Credentials</dt>
        <dd>{hasCredentials ? 'from a Secret' : 'none'}</dd>
        {allowedTypes.length > 0 && (
          <>
            <dt>Allowed types</dt>
            <dd>{allowedTypes.join(', ')}</dd>
          </>
        )}
        {policy !== '' && (
          <>
            <dt>Policy</dt>
            <dd>{policy}</dd>
          </>
        )}
      </dl>
      <section aria-labelledby="conditions-head">
        <h3 id="conditions-head">Result of the last probe</h3>
        {conditions.length === 0 && <p className="quiet">Not probed yet.</p>}
        <ul className="conditions">
          {conditions.map((condition) => (
            <li key={condition.type}>
              <PhaseIcon phase={conditionPhase(condition.type, condition.status)} />
              <div>
                <p>
                  <strong>{condition.type}</strong>: {condition.status} · {condition.reason}{' '}
                  <small>
                    since <Ago at={condition.since} />
                  </small>
                </p>
                <p className="moment-text">{condition.message}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="history-head">
        <h3 id="history-head">Probe history</h3>
        {events.length === 0 && <p className="quiet">No Events in the last hour.</p>}
        <ul className="conditions">
          {events.map((event) => (
            <li key={event.id}>
              <PhaseIcon phase={event.isWarning ? 'warn' : 'ok'} />
              <div>
                <p>
                  <strong>{event.reason}</strong>{' '}
                  {event.count > 1 && <span className="count">{event.count}×</span>}{' '}
                  <small>
                    <Ago at={event.at} />
                  </small>
                </p>
                <p className="moment-text">{event.message}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="users-head">
        <h3 id="users-head">Used by {countText(users, 'Order')}</h3>
        <ul className="lines">
          {usedBy.map(({ name, side, phase }) => (
            <li key={name}>
              <Link href={`/orders/${namespace}/${name}`} className="line">
                <PhaseIcon phase={phase} />
                <span className="line-name">
                  <span>{name}</span>
                </span>
                <Chip>{side}</Chip>
              </Link>
            </li>
          ))}
        </ul>
        {users > usedBy.length && <p className="quiet">and {users - usedBy.length} more</p>}
      </section>
    </>
  );
}

/** Stalled is good when it is False. */
function conditionPhase(type: string, status: string): string {
  if (status === 'Unknown') return 'unknown';
  return (status === 'True') !== (type === 'Stalled') ? 'ok' : 'bad';
}
