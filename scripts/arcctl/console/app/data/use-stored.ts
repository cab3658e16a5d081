import { useState } from 'react';

/** Returns a value in the browser's local storage. An unreadable value counts as absent. */
export function useStored<T>(key: string, first: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => readStored(key) ?? first);
  return [
    value,
    (next) => {
      setValue(next);
      // Storage may be blocked or full: then the value lasts until the page is closed.
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {}
    },
  ];
}

function readStored<T>(key: string): T | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
