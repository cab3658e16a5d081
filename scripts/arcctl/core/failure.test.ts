import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { describeFailure, Failure } from './failure.ts';

describe('a failure', () => {
  it.each([
    [new Failure(4, 'too late'), 4, 'too late'],
    [new ArcError('ServiceUnavailable', 'no connection'), 3, 'arcctl doctor'],
    [new ArcError('Unauthorized', 'no'), 3, 'Log in again'],
    [new ArcError('Timeout', 'no answer'), 4, 'no answer'],
    [new ArcError('NotFound', 'the server responded with 404'), 1, 'ARC may not be installed'],
    [new ArcError('Forbidden', 'you may not'), 5, 'you may not'],
    [new TypeError('a defect'), 1, 'a defect'],
  ])('%s ends with its exit code and the next step', (caught, exitCode, text) => {
    expect(describeFailure(caught)).toEqual({ exitCode, message: expect.stringContaining(text) });
  });

  it('of an object that is not there says nothing of ARC', () => {
    const details = { kind: 'orders', name: 'a' };
    expect(describeFailure(new ArcError('NotFound', 'orders "a" not found', { details })).message).toBe(
      'orders "a" not found',
    );
  });

  it('lists causes that the message does not have', () => {
    const causes = [
      { reason: 'x', field: 'spec.a', message: 'is wrong' },
      { reason: 'x', field: 'spec.b', message: 'is missing' },
    ];
    const error = new ArcError('Invalid', 'Order is invalid: spec.a: is wrong', { details: { causes } });
    expect(describeFailure(error).message).toBe('Order is invalid: spec.a: is wrong\n  spec.b: is missing');
  });
});
