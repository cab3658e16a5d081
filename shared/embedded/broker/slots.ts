/** Lets at most `size` pieces of work run at a time; the others wait in the order they came. The caller bounds how many. */
export function createSlots(size: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The slot goes straight to the next in line, so that nobody overtakes.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
