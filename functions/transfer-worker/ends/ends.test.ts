import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { openSession, type Session } from '#shared/transfer';
import { openEnds } from './ends.ts';

let session: Session;
beforeEach(() => {
  session = openSession();
});
afterEach(() => session.close());

function open(spec: Record<string, unknown>, type = 'oci') {
  const endpoint = { name: 'x', type, remoteURL: 'https://r.io' };
  const job: Job = { artifact: { type: 'image', spec }, source: endpoint, destination: endpoint };
  return openEnds(job, { session, folder: '', signal: new AbortController().signal });
}

describe('the ends of a job', () => {
  // Operators use their own names, and names of JavaScript are no exception.
  it.each(['oci', 'our-harbor', 'constructor'])('are registries for Endpoints of type %s', async (type) => {
    const { source, destination } = await open({ image: 'team/app:1', override: 'mirror/app' }, type);
    expect(source.registry).toEqual({ origin: 'https://r.io', repository: 'team/app' });
    expect(destination).toMatchObject({ registry: { repository: 'mirror/app' }, tag: '1' });
  });

  it('are folders for Endpoints of type oci-layout', async () => {
    const remoteURL = 'file:///srv/layout';
    const layout = { name: 'x', type: 'oci-layout', remoteURL };
    const registry = { name: 'r', type: 'oci', remoteURL: 'https://r.io' };
    const ends = (spec: Record<string, unknown>, source: object, destination: object) =>
      openEnds({ artifact: { type: 'image', spec }, source, destination } as Job, {
        session,
        folder: '',
        signal: new AbortController().signal,
      });
    const out = await ends({ image: 'team/app:1' }, registry, layout);
    expect(out.destination).toMatchObject({ place: 'the OCI layout /srv/layout', tag: 'team/app:1' });
    const whole = await ends({ image: 'team/app:1' }, layout, registry);
    expect(whole.destination).toMatchObject({ registry: { repository: 'team/app' }, tag: '1' });
    const word = await ends({ image: '1', override: 'team/app' }, layout, registry);
    expect(word.destination).toMatchObject({ registry: { repository: 'team/app' }, tag: '1' });
    const only = await ends({ override: 'team/app:2' }, layout, registry);
    expect(only.destination).toMatchObject({ tag: '2' });
    await expect(ends({ image: '1' }, layout, registry)).rejects.toThrow('the repository is missing');
    const wrong = { ...layout, remoteURL: 'https://r.io' };
    await expect(ends({ image: '1' }, wrong, registry)).rejects.toThrow('such as file:///');
  });

  it.each([
    [{}, 'spec.image'],
    [{ image: 5 }, 'spec.image'],
    [{ image: 'a', override: 5 }, 'spec.override'],
  ])('are refused for the spec %j, naming the field', async (spec, field) => {
    await expect(open(spec)).rejects.toThrow(field);
  });
});
