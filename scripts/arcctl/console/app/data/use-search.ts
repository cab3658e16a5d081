import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

/** The part of the address after `?`: what filters a list, so that a link shows the same. An empty value is left out. */
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

/** What a list is sorted by, as `name` or `-name` in the address. */
export function sortingOf(text: string | null, first: string): { id: string; isDown: boolean } {
  const given = text || first;
  return given.startsWith('-') ? { id: given.slice(1), isDown: true } : { id: given, isDown: false };
}

export function sortingText({ id, isDown }: { id: string; isDown: boolean }): string {
  return `${isDown ? '-' : ''}${id}`;
}
