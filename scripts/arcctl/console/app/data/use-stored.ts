import { useState } from 'react';

/** A value that this browser keeps. What is kept and cannot be read is as if nothing was. */
export function useStored<T>(key: string, first: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => readStored(key) ?? first);
  return [
    value,
    (next) => {
      setValue(next);
      // Storage may be blocked or full: then it lasts as long as the page.
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
