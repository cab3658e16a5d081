import { CircleAlert, Dot } from 'lucide-react';
import { useMemo } from 'react';
import type { EventRow } from '../../api.ts';
import { exactText, instantOf, secondText } from '../data/format.ts';
import { useQuery } from '../data/use-search.ts';
import { FilterField } from '../parts/filters.tsx';
import { Empty } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

const mostShown = 300;

/** The Events of an Order, the newest first, grouped by day. */
export function Timeline({ events }: { events: readonly EventRow[] }) {
  const [query, setQuery] = useQuery();
  const [text, only] = [query.get('q') ?? '', query.get('only') ?? ''];
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    return events
      .filter(
        (event) =>
          (only !== 'warnings' || event.isWarning) &&
          `${event.reason} ${event.name} ${event.message}`.toLowerCase().includes(wanted),
      )
      .toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }, [events, text, only]);
  const days = Map.groupBy(found.slice(0, mostShown), ({ at }) =>
    new Date(at).toLocaleDateString(undefined, { dateStyle: 'full' }),
  );
  return (
    <>
      <div className="filters">
        <FilterField label="Filter the timeline" value={text} onChange={(q) => setQuery({ q })} />
        <button
          type="button"
          className="toggle"
          aria-pressed={only === 'warnings'}
          onClick={() => setQuery({ only: only === 'warnings' ? '' : 'warnings' })}
        >
          <CircleAlert size={13} className="tone-warn" aria-hidden />
          Warnings
          <span className="count">{events.filter(({ isWarning }) => isWarning).length}</span>
        </button>
      </div>
      {found.length === 0 ? (
        <Empty title="No Events">A cluster keeps them for an hour.</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        <section className="timeline" tabIndex={0} aria-label="Timeline">
          {[...days].map(([day, some]) => (
            <section key={day} aria-label={day}>
              <h2>{day}</h2>
              <ol>
                {some.map((event) => (
                  <Entry key={event.id} event={event} />
                ))}
              </ol>
            </section>
          ))}
          {found.length > mostShown && (
            <p className="quiet">and {found.length - mostShown} earlier: filter to see them</p>
          )}
        </section>
      )}
    </>
  );
}

function Entry({ event: { at, isWarning, reason, message, kind, name, count } }: { event: EventRow }) {
  const atMs = instantOf(at);
  return (
    <li className={`moment${isWarning ? ' is-warning' : ''}`}>
      <time className="figures" dateTime={at} title={atMs === undefined ? '' : exactText(atMs)}>
        {atMs === undefined ? '' : secondText(atMs)}
      </time>
      <span className="moment-mark">
        {isWarning ? (
          <CircleAlert size={14} className="tone-warn" aria-label="Warning" />
        ) : (
          <Dot size={14} aria-hidden />
        )}
      </span>
      <div>
        <p>
          <strong>{reason}</strong>
          {count > 1 && <span className="count">{count}×</span>}{' '}
          <small>
            {kind} {name} · <Ago at={at} />
          </small>
        </p>
        <p className="moment-text">{message}</p>
      </div>
    </li>
  );
}
