import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { createLogger } from './logger.ts';

function capture(level?: string) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ name: 'unit', destination, ...(level === undefined ? {} : { level }) });
  return { log, lines };
}

describe('createLogger', () => {
  it('writes one JSON object a line with name, level as a word and an RFC 3339 time', () => {
    const { log, lines } = capture();
    log.info({ order: 'a/b' }, 'woken');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ name: 'unit', level: 'info', order: 'a/b', msg: 'woken' });
    expect(String(lines[0]?.time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('escapes every control character in a line', () => {
    const raw: string[] = [];
    const log = createLogger({ name: 'unit', destination: { write: (line) => void raw.push(line) } });
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii' }),
        fc.constantFrom('\x7f', '\x9b', '\u2028', '\u202e'),
        (a, b) => {
          log.info({ [a + b]: b + a, err: new Error(a + b) }, b + a);
          const line = raw.pop() ?? '';
          expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
          expect(JSON.parse(line).msg).toBe(b + a);
        },
      ),
    );
  });

  it('leaves out lines below its level', () => {
    const { log, lines } = capture('warn');
    log.info('quiet');
    log.warn('loud');
    expect(lines.map((line) => line.msg)).toEqual(['loud']);
  });

  it('redacts credentials at the top and one level down', () => {
    const { log, lines } = capture();
    log.info({ password: 'p1', headers: { authorization: 'Bearer p2' }, user: 'u' }, 'request');
    expect(JSON.stringify(lines)).not.toMatch(/p1|p2/);
    expect(lines[0]).toMatchObject({ password: '[redacted]', user: 'u' });
  });

  it('keeps code and cause of an error', () => {
    const { log, lines } = capture();
    log.error({ err: new ArcError('Conflict', 'lost the race', { cause: new Error('below') }) }, 'failed');
    expect(lines[0]?.err).toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('lost the race'),
    });
    expect(JSON.stringify(lines[0]?.err)).toContain('below');
  });
});
