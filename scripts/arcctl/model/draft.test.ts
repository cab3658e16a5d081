import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { endpoint } from '../../../shared/domain/testing/objects.ts';
import { draftOrder } from './draft.ts';

const known = [
  endpoint('hub', { remoteURL: 'https://registry.example.com', usage: 'PullOnly' }),
  endpoint('team', { remoteURL: 'registry.example.com/team', usage: 'All' }),
  endpoint('mirror', { remoteURL: 'http://mirror.example.com:5000/', usage: 'PushOnly' }),
];
const draft = (source: string, destination: string, name?: string) =>
  draftOrder({ source, destination, type: 'oci', ...(name !== undefined && { name }) }, known);

describe('an Order from two references', () => {
  it.each([
    ['registry.example.com/app:1.0', 'mirror.example.com:5000/app:1.0', 'hub', { image: 'app:1.0' }],
    ['registry.example.com/app:1.0', 'mirror.example.com:5000/app', 'hub', { image: 'app:1.0' }],
    [
      'https://REGISTRY.example.com/team/app:1.0',
      'oci://mirror.example.com:5000/',
      'team',
      { image: 'app:1.0' },
    ],
    [
      'registry.example.com/app:1.0',
      'mirror.example.com:5000/other/',
      'hub',
      { image: 'app:1.0', override: 'other/app:1.0' },
    ],
    [
      'registry.example.com/a/app',
      'mirror.example.com:5000/app:2',
      'hub',
      { image: 'a/app', override: 'app:2' },
    ],
  ])('%s to %s', (source, destination, srcRef, spec) => {
    const drafted = draft(source, destination);
    expect(drafted).toMatchObject({
      state: 'drafted',
      order: {
        spec: { artifacts: [{ type: 'oci', srcRef: { name: srcRef }, dstRef: { name: 'mirror' }, spec }] },
      },
    });
    if (drafted.state === 'drafted') expect(drafted.order.spec.artifacts?.[0]?.spec).toEqual(spec);
  });

  it('has a name made of the source, or the one that is given', () => {
    const nameOf = (source: string, name?: string) => {
      const drafted = draft(source, 'mirror.example.com:5000/', name);
      return drafted.state === 'drafted' ? drafted.order.metadata.name : drafted.message;
    };
    expect(nameOf('registry.example.com/Team_App:1.0')).toBe('team-app-1-0');
    expect(nameOf('registry.example.com/app:1.0', 'mine')).toBe('mine');
    expect(nameOf('registry.example.com/app:1.0', 'Mine')).toContain('--name');
  });

  it('says which Endpoint is missing, with a manifest of one', () => {
    expect(draft('other.example.com/app', 'mirror.example.com:5000/')).toMatchObject({
      state: 'refused',
      message: 'this namespace has no source Endpoint for other.example.com/app',
      endpoint: expect.stringContaining("remoteURL: 'https://other.example.com', usage: PullOnly"),
    });
    expect(draft('registry.example.com/app', 'registry.example.com/app')).toMatchObject({
      message: expect.stringContaining('no destination Endpoint for'),
    });
    expect(draft('app:1.0', 'mirror.example.com:5000/')).toMatchObject({
      message: expect.stringContaining('must have a host'),
    });
  });

  it('takes whatever is typed', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (source, destination) => {
        expect(['drafted', 'refused']).toContain(draft(source, destination).state);
      }),
    );
  });
});
