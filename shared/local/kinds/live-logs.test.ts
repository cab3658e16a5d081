import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createLiveLog } from './live-logs.ts';

const key = '-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----\n';

describe('a live log', () => {
  it('shows no secret, however the output comes', () => {
    const printed = `user bob\npassword hunter2 of bob\n${key}grüße\nhunter2`;
    const cuts = fc.array(fc.nat(Buffer.byteLength(printed)), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (at) => {
        const log = createLiveLog();
        const print = log.input(['hunter2', key]);
        const places = [0, ...at.toSorted((a, b) => a - b), Number.POSITIVE_INFINITY];
        const shown = places.slice(1).map((to, index) => {
          print(Buffer.from(printed).subarray(places[index], to));
          return log.text();
        });
        log.end();
        expect(log.text()).toMatch(/^user bob\npassword \*{3} of bob\n(\*{3}\n?)+grüße\n\*{3}\n$/);
        for (const text of shown) expect(text).not.toMatch(/hunter2|abcdefgh|ijklmnop/);
      }),
    );
  });

  it('keeps the end, and tells a reader from there on', async () => {
    const log = createLiveLog();
    const print = log.input([]);
    const reading = log.follow(0, new AbortController().signal);
    const first = reading.next();
    for (let line = 0; line < 3000; line += 1) print(Buffer.from(`${line}\n`));
    expect(log.text()).toMatch(/^2000\n.*\n2999\n$/s);
    expect((await first).value).toBe(log.text());
    for (let line = 0; line < 20; line += 1) print(Buffer.from(`${'x'.repeat(8000)}\n`));
    expect(log.text().length).toBeLessThan(65 * 1024);
    expect((await reading.next()).value).toBe(log.text());
    log.end();
    expect((await reading.next()).done).toBe(true);
  });

  it('leaves a line out that is too long to be masked whole', () => {
    const log = createLiveLog();
    const print = log.input(['hunter2']);
    for (let part = 0; part < 40; part += 1) print(Buffer.from(`${'x'.repeat(1000)}hunter2`));
    print(Buffer.from('end\nnext\n'));
    expect(log.text()).toBe('... a line of more than 16384 characters is left out\nnext\n');
  });

  it('lets a reader go who wants no more', async () => {
    const log = createLiveLog();
    const ending = new AbortController();
    const reading = log.follow(0, ending.signal);
    const next = reading.next();
    ending.abort();
    expect((await next).done).toBe(true);
  });
});
