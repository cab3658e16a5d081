import { beforeAll, describe, expect, it } from 'vitest';
import type { ArcError } from '#shared/base/errors';
import { createAuthority } from '../../../base/testing/authority.ts';
import { liveAuthenticationConfig } from './live-config.ts';

let one: string;
let two: string;
beforeAll(async () => {
  [one, two] = (await Promise.all([createAuthority('one'), createAuthority('two')])).map(
    ({ cert }) => cert,
  ) as [string, string];
});

describe('liveAuthenticationConfig', () => {
  it('returns the newest valid configuration', async () => {
    let say: (data: Record<string, string>) => void = () => undefined;
    const wrong: ArcError[] = [];
    const config = await liveAuthenticationConfig({
      reader: (onData) => {
        say = onData;
        onData({ 'client-ca-file': one });
      },
      signal: new AbortController().signal,
      onInvalid: (error) => wrong.push(error),
    });
    expect(config().clientAuthorities[0]?.subject).toBe('CN=one');
    say({ 'client-ca-file': two });
    expect(config().clientAuthorities[0]?.subject).toBe('CN=two');
    say({ 'client-ca-file': 'broken' });
    expect(config().clientAuthorities[0]?.subject).toBe('CN=two');
    expect(wrong).toMatchObject([{ code: 'Invalid' }]);
  });

  it('rejects without data in time, when the first data is invalid, and when it is aborted', async () => {
    const live = (reader: Parameters<typeof liveAuthenticationConfig>[0]['reader'], signal: AbortSignal) =>
      liveAuthenticationConfig({ reader, signal, onInvalid: () => undefined, timeoutMs: 1 });
    const open = new AbortController().signal;
    await expect(live(() => undefined, open)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(live((onData) => onData({ 'client-ca-file': 'x' }), open)).rejects.toMatchObject({
      code: 'Invalid',
    });
    const control = new AbortController();
    await expect(live(() => control.abort(), control.signal)).rejects.toThrow(/stopped before/);
  });
});
