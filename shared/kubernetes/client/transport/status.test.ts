import { describe, expect, it } from 'vitest';
import { errorFromResponse, errorFromStatus } from './status.ts';

function status(fields: object): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...fields });
}

describe('errorFromAnswer', () => {
  it('keeps reason, message and details of a Status', () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'no URL', field: 'spec.remoteURL' }];
    const details = { name: 'e', group: 'g', kind: 'endpoints', uid: 'u', causes, extra: 1 };
    const error = errorFromResponse(
      422,
      status({ reason: 'Invalid', message: 'e is invalid', details }),
      'PUT /x',
    );
    expect(error).toMatchObject({ code: 'Invalid', message: 'e is invalid' });
    expect(error.details).toEqual({ name: 'e', group: 'g', kind: 'endpoints', uid: 'u', causes });
  });

  it.each([
    [409, 'AlreadyExists', 'AlreadyExists'],
    [409, 'SomethingNew', 'Conflict'],
    [410, 'Gone', 'Expired'],
    [504, 'ServerTimeout', 'Timeout'],
    [500, '', 'InternalError'],
    [400, 'constructor', 'BadRequest'],
  ])('reads a Status %i with reason %j as %s', (code, reason, expected) => {
    expect(errorFromResponse(code, status({ reason, message: 'm' }), 'GET /x').code).toBe(expected);
  });

  it.each([
    [404, '404 page not found\n', 'NotFound'],
    [502, '<html>Bad Gateway</html>', 'ServiceUnavailable'],
    [302, '', 'ServiceUnavailable'],
    [400, '[1]', 'BadRequest'],
  ])('reads %i with another body by its status', (code, body, expected) => {
    const error = errorFromResponse(code, body, 'GET /x');
    expect(error.code).toBe(expected);
    expect(error.message).toContain(`GET /x: the server responded with ${code}`);
    expect(error.details).toBeUndefined();
  });

  it('cuts foreign text', () => {
    expect(errorFromResponse(500, 'x'.repeat(100_000), 'GET /x').message.length).toBeLessThan(300);
  });

  it('takes the retry time from the details, else from the header', () => {
    expect(errorFromResponse(429, '', 'GET /x', '7').details).toEqual({ retryAfterSeconds: 7 });
    const own = status({ reason: 'TooManyRequests', message: 'm', details: { retryAfterSeconds: 2 } });
    expect(errorFromResponse(429, own, 'GET /x', '7').details).toEqual({ retryAfterSeconds: 2 });
    expect(errorFromResponse(429, '', 'GET /x', 'Wed, 21 Oct 2026 07:28:00 GMT').details).toBeUndefined();
  });
});

describe('errorFromStatus', () => {
  it('reads a Status without any field', () => {
    expect(errorFromStatus({ kind: 'Status' })).toMatchObject({
      code: 'InternalError',
      message: 'InternalError (500)',
    });
    expect(errorFromStatus({ kind: 'Status', code: 410, details: 'x' })).toMatchObject({ code: 'Expired' });
  });
});
