import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { classifyFailure } from './failure.ts';

describe('classifyFailure', () => {
  it.each([
    ['14 UNAVAILABLE: No connection established. Last error: null', 'ServiceUnavailable', true, true],
    ['14 UNAVAILABLE: etcdserver: request timed out', 'ServiceUnavailable', false, true],
    ['GRPCUnavailableError: 14 UNAVAILABLE: Connection dropped', 'ServiceUnavailable', false, true],
    ['4 DEADLINE_EXCEEDED: Deadline exceeded after 1s', 'Timeout', false, true],
    ['13 INTERNAL: Received RST_STREAM with code 2', 'ServiceUnavailable', false, true],
    ['2 UNKNOWN: context canceled', 'ServiceUnavailable', false, true],
    ['something else', 'ServiceUnavailable', false, true],
    ['8 RESOURCE_EXHAUSTED: etcdserver: too many requests', 'ServiceUnavailable', true, true],
    ['8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded', 'ServiceUnavailable', true, false],
    ['3 INVALID_ARGUMENT: etcdserver: request is too large', 'RequestEntityTooLarge', true, false],
    ['8 RESOURCE_EXHAUSTED: grpc: received message larger than max', 'RequestEntityTooLarge', true, false],
    ['7 PERMISSION_DENIED: etcdserver: permission denied', 'ServiceUnavailable', true, false],
    ['11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted', 'Expired', true, false],
    ['11 OUT_OF_RANGE: etcdserver: mvcc: required revision is a future revision', 'Timeout', true, false],
  ])('%s', (text, code, notApplied, retryable) => {
    expect(classifyFailure(new Error(text))).toMatchObject({ error: { code }, notApplied, retryable });
  });

  it('leaves our own errors as they are', () => {
    const error = new ArcError('Expired', 'gone');
    expect(classifyFailure(error)).toEqual({ error, notApplied: false, unsent: false, retryable: false });
  });
});
