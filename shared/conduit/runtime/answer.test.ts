import { describe, expect, it } from 'vitest';
import { ArcError, type Code } from '#shared/base/errors';
import { deliveryStatus, doneAnswer, failureAnswer, refusalAnswer } from './answer.ts';

describe('failureAnswer', () => {
  it.each<[Code, number]>([
    ['Conflict', 409],
    ['AlreadyExists', 409],
    ['TooManyRequests', 429],
    ['Timeout', 503],
    ['ServiceUnavailable', 503],
    ['Expired', 503],
    ['Invalid', 422],
    ['NotFound', 500],
    ['Forbidden', 500],
    ['Unauthorized', 500],
    ['BadRequest', 500],
    ['InternalError', 500],
  ])('answers %s with %i', async (code, status) => {
    expect(deliveryStatus(new ArcError(code, 'm'))).toBe(status);
    const answer = failureAnswer(new ArcError(code, 'm'));
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ reason: code });
  });

  it.each([
    ['letters', 'a'.repeat(5_000)],
    ['letters of two bytes', 'ä'.repeat(5_000)],
    ['signs that JSON escapes', '\u0001'.repeat(5_000)],
  ])('stays within what a dead letter can carry: %s', async (_, message) => {
    const bytes = Buffer.from(await failureAnswer(new ArcError('Invalid', message)).arrayBuffer());
    expect(bytes.toString('base64').length).toBeLessThanOrEqual(1024);
    expect(bytes.byteLength).toBeGreaterThan(500);
    expect(JSON.parse(bytes.toString())).toMatchObject({ reason: 'Invalid' });
  });

  it('carries the time to wait as Retry-After', () => {
    const details = { retryAfterSeconds: 3 };
    const answer = failureAnswer(new ArcError('TooManyRequests', 'busy', { details }));
    expect(answer.headers.get('retry-after')).toBe('3');
  });

  it('does not show the message of an unexpected error', async () => {
    const answer = failureAnswer(ArcError.from(new Error('password=hunter2')));
    expect(await answer.text()).not.toContain('hunter2');
  });
});

describe('refusalAnswer', () => {
  it('uses the status of the mistake itself', () => {
    expect(refusalAnswer(new ArcError('BadRequest', 'm')).status).toBe(400);
    expect(refusalAnswer(new ArcError('UnsupportedMediaType', 'm')).status).toBe(415);
  });
});

describe('doneAnswer', () => {
  it('is empty: brokers take any other body for a failure', async () => {
    const answer = doneAnswer();
    expect(answer.status).toBe(204);
    expect(await answer.text()).toBe('');
  });
});
