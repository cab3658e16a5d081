import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

/** Returns the query string of the URL, which holds the filters of a list so that it can be linked. Empty values are removed. */
export function useQuery(): [query: URLSearchParams, set: (changes: Record<string, string>) => void] {
  const search = useSearch();
  const [location, navigate] = useLocation();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback(
    (changes: Record<string, string>) => {
      const next = new URLSearchParams(search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      navigate(`${location}${text === '' ? '' : `?${text}`}`, { replace: true });
    },
    [search, location, navigate],
  );
  return [query, set];
}

/** Parses the sort order of a list, `name` or `-name`, from the URL. */
export function sortingOf(text: string | null, first: string): { id: string; isDown: boolean } {
  const given = text || first;
  return given.startsWith('-') ? { id: given.slice(1), isDown: true } : { id: given, isDown: false };
}

export function sortingText({ id, isDown }: { id: string; isDown: boolean }): string {
  return `${isDown ? '-' : ''}${id}`;
}
