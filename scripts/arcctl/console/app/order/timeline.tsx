import { CircleAlert, Dot } from 'lucide-react';
import { useMemo } from 'react';
import type { EventRow } from '../../api.ts';
import { exactText, instantOf, secondText } from '../data/format.ts';
import { useEventFilter } from '../parts/event-filter.tsx';
import { Empty } from '../parts/states.tsx';
import { Ago } from '../parts/time.tsx';

const mostShown = 300;

const filter = { label: 'Filter the timeline', nameOf: ({ name }: EventRow) => name };

/** The Events of an Order, the newest first, grouped by day. */
export function Timeline({ events }: { events: readonly EventRow[] }) {
  const { found, controls } = useEventFilter(events, filter);
  const newest = useMemo(() => found.toSorted((a, b) => (a.at < b.at ? 1 : -1)), [found]);
  const days = Map.groupBy(newest.slice(0, mostShown), ({ at }) =>
    new Date(at).toLocaleDateString(undefined, { dateStyle: 'full' }),
  );
  return (
    <>
      {controls}
      {found.length === 0 ? (
        <Empty title="No Events">A cluster keeps Events for an hour.</Empty>
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
