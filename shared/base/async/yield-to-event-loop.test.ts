import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from './yield-to-event-loop.ts';

describe('yieldToEventLoop', () => {
  it('lets one of those who wait go on in each turn of the event loop, in order', async () => {
    const seen: string[] = [];
    let ended = false;
    const tick = () => {
      seen.push('.');
      if (!ended) setImmediate(tick);
    };
    setImmediate(tick);
    const work = async (name: string) => {
      for (let step = 0; step < 3; step += 1) {
        await yieldToEventLoop();
        seen.push(name);
      }
    };
    await Promise.all([work('a'), work('b')]);
    ended = true;
    const inTurns = seen
      .join('')
      .split('.')
      .filter((turn) => turn !== '');
    expect(inTurns).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });
});
