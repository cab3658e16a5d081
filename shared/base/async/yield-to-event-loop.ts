const waiting: (() => void)[] = [];

/**
 * Yields to the event loop; call it between the steps of a long request. Waiting callers resume one per turn of the event loop, so that many
 * long requests do not add up to one long pause.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  // Scheduled by a new turn, after the events that have arrived meanwhile.
  if (waiting.length > 1) setImmediate(resumeNext);
  waiting.shift()?.();
}
