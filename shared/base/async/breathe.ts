const waiting: (() => void)[] = [];

/**
 * Lets other work run; call it between the long steps of a request. Those who wait go on one by one, each in a turn of the event loop of
 * its own, so that many long requests do not add up to one long pause.
 */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  // The next one is scheduled by a new turn, behind the events that have come meanwhile.
  if (waiting.length > 1) setImmediate(resumeNext);
  waiting.shift()?.();
}
