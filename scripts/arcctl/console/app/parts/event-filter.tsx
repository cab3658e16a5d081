import { CircleAlert } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import type { EventRow } from '../../api.ts';
import { useQuery } from '../data/use-search.ts';
import { FilterField } from './filters.tsx';

interface EventFilter {
  /** Label of the text field. */
  label: string;
  /** The name of an Event's object, for the text search. */
  nameOf(event: EventRow): string;
}

/** Returns the Events that match the filters in the URL, and the controls of these filters. */
export function useEventFilter(
  events: readonly EventRow[],
  { label, nameOf }: EventFilter,
): { found: readonly EventRow[]; controls: ReactNode } {
  const [query, setQuery] = useQuery();
  const [text, only] = [query.get('q') ?? '', query.get('only') ?? ''];
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    return events.filter(
      (event) =>
        (only !== 'warnings' || event.isWarning) &&
        `${event.reason} ${nameOf(event)} ${event.message}`.toLowerCase().includes(wanted),
    );
  }, [events, text, only, nameOf]);
  const controls = (
    <div className="filters">
      <FilterField label={label} value={text} onChange={(q) => setQuery({ q })} />
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
  );
  return { found, controls };
}
