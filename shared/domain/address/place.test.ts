import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { resolveAddress } from './image-address.ts';
import { landingName, writtenTag } from './landing.ts';
import { type Landing, type Place, placeOf } from './place.ts';
import { parseImageName } from './reference.ts';
import { s3Place } from './s3-object.ts';

const digest = `sha256:${'0'.repeat(64)}`;

interface Given extends Partial<Omit<Landing, 'destination'>> {
  type?: string;
  plainHTTP?: boolean;
}

function place(remoteURL: string, name: string, { type = 'oci', plainHTTP, ...more }: Given = {}) {
  return placeOf({
    source: 'oci',
    destination: { type, remoteURL, ...(plainHTTP === undefined ? {} : { plainHTTP }) },
    names: [name],
    spec: {},
    ...more,
  });
}

const text = ({ server, path }: Place) => `${server}|${path}`;

describe('the place of an image', () => {
  it.each<[string, string, Given, string]>([
    ['https://r.io', 'm/x', {}, 'https://r.io|m/x:latest'],
    ['https://r.io', 'm/x:latest', {}, 'https://r.io|m/x:latest'],
    ['https://R.io:443/m/', 'x', {}, 'https://r.io|m/x:latest'],
    ['oci://r.io/m', 'x:1', {}, 'https://r.io|m/x:1'],
    ['r.io', 'x:1', { plainHTTP: true }, 'http://r.io|x:1'],
    ['http://r.io:80', 'x:1', {}, 'http://r.io|x:1'],
    ['https://r.io', `x:1@${digest}`, {}, 'https://r.io|x:1'],
    ['https://r.io', `x@${digest}`, {}, `https://r.io|x@${digest}`],
    ['https://index.Docker.io', 'alpine:3', {}, 'https://registry-1.docker.io|library/alpine:3'],
    ['docker.io/library', 'alpine:3', {}, 'https://registry-1.docker.io|library/alpine:3'],
    ['https://r.io', 'm/x', { names: ['m/x', 'team/app:2'] }, 'https://r.io|m/x:2'],
    ['https://r.io', 'm/x', { names: ['m/x:3', 'team/app:2'] }, 'https://r.io|m/x:3'],
    [
      'https://r.io',
      'm/x',
      { names: ['m/x', `team/app:2@${digest}`], spec: { platforms: ['linux/amd64'] } },
      'https://r.io|m/x:2',
    ],
    ['https://r.io', 'm/x', { names: ['m/x', '2.0'], source: 'oci-layout' }, 'https://r.io|m/x:2.0'],
    // A file does not lend its name a tag, and which tags there are is not known yet.
    ['https://r.io', 'm/x', { names: ['m/x', 'dist/a:2'], source: 'http' }, 'https://r.io|m/x:latest'],
    ['https://r.io', 'm/x', { spec: { tags: { match: '*' } } }, 'https://r.io|m/x'],
    ['https://r.io', 'm/chart', { spec: { chart: 'chart' } }, 'https://r.io|m/chart'],
    ['https://r.io', 'm/chart:1', { spec: { chart: 'chart' } }, 'https://r.io|m/chart:1'],
  ])('%s with %s %j', (remoteURL, name, more, expected) => {
    expect(text(place(remoteURL, name, more) as Place)).toBe(expected);
  });

  it.each<[string, string, Given]>([
    ['https://r.io', 'Not/An/Image', {}],
    ['https://r.io/a//b', 'x', {}],
    ['https://r.io/a/../b', 'x', {}],
    ['s3://bucket', 'x', {}],
    ['https://r.io', 'team/*', { spec: { tags: { match: '*' } } }],
    ['https://r.io', 'release-7', { source: 'bundle' }],
  ])('is not known for %s with %s %j', (remoteURL, name, more) => {
    expect(place(remoteURL, name, more)).toBeUndefined();
  });
});

describe('the place of a file', () => {
  it.each<[string, string, string, string]>([
    ['s3', 'https://minio:9000', 'bucket/a/b', 'https://minio:9000|bucket/a/b'],
    ['s3', 'HTTPS://MinIO:9000//bucket/a/', 'b', 'https://minio:9000|bucket/a/b'],
    ['s3', 'https://minio:443/x/../bucket', 'a b', 'https://minio|bucket/a b'],
    ['s3', 's3://b/pre', 'a', 'https://s3.amazonaws.com|b/pre/a'],
    ['s3', 'https://b.s3.eu-central-1.amazonaws.com/pre', 'a', 'https://s3.amazonaws.com|b/pre/a'],
    ['s3', 'https://s3.us-west-2.amazonaws.com/b', 'pre/a', 'https://s3.amazonaws.com|b/pre/a'],
    ['http', 'https://b.s3.amazonaws.com', 'pre/a', 'https://s3.amazonaws.com|b/pre/a'],
    ['webdav', 'https://h./p%2Dq?token=1', 'a', 'https://h|p-q/a'],
    ['http', 'h/p', 'a%2Db', 'https://h|p/a%2Db'],
    ['http', 'https://h/a%2Fb', 'c', 'https://h|/a%2Fb/c'],
    ['http', 'https://h/a', 'b/', 'https://h|a/b/'],
    ['s3', 's3://bucket/pre%20fix', '/', 'https://s3.amazonaws.com|bucket/pre fix/'],
  ])('at %s %s with %s', (type, remoteURL, name, expected) => {
    expect(text(place(remoteURL, name, { type, source: 'http' }) as Place)).toBe(expected);
  });

  it.each(['a/../b', 'a//b', '/a', 'a//'])('is not known for %j, which no worker writes', (name) => {
    expect(place('https://h', name, { type: 's3' })).toBeUndefined();
  });

  it('in a folder, is where the folder is', () => {
    const layout = { type: 'oci-layout' };
    expect(place('file:///var//lib/../x/', 'a:1', layout)).toEqual(place('file:///var/x', 'a:1', layout));
    expect(place('file:///x', `@${digest}`, { ...layout, source: 'oci-layout' })?.path).toBe(`@${digest}`);
    expect(place('file:///x/%zz', 'a:1', layout)).toBeUndefined();
    const bundle = { type: 'bundle' };
    expect(place('file:///out/', 'release-1', bundle)).toEqual(place('file:///out', 'release-1', bundle));
    expect(place('https://h:443/out', 'release-1', bundle)).toEqual({
      server: 'https://h',
      path: 'out/release-1.arc-bundle.json',
    });
    expect(place('s3://b/out', 'release-1', bundle)).toEqual(
      place('https://b.s3.eu-west-1.amazonaws.com', 'out/release-1.arc-bundle.json', { type: 's3' }),
    );
  });
});

describe('places', () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,3}$/);
  const parts = fc.array(part, { minLength: 1, maxLength: 4 });
  const host = fc.constantFrom('r.io', 'docker.io', 'registry-1.docker.io', 'r.io:5000', '[::1]:5000');
  const tag = fc.constantFrom('latest', '1', 'A');
  /** One way to write `parts` below a server, and a tag. */
  const spelling = fc.record({
    upper: fc.boolean(),
    port: fc.boolean(),
    slashes: fc.nat(2),
    split: fc.nat(3),
    implied: fc.boolean(),
    scheme: fc.constantFrom('', 'https://', 'oci://'),
    lent: fc.boolean(),
  });
  type Spelling = typeof spelling extends fc.Arbitrary<infer T> ? T : never;

  function image(server: string, names: string[], version: string, how: Spelling): Landing {
    const { upper, port, slashes, split, implied, scheme, lent } = how;
    const at = Math.min(split, names.length - 1);
    const withPort = port && !/:\d+$/.test(server) ? `${server}:443` : server;
    const prefix = names.slice(0, at).map((name) => `/${name}`);
    const rest = names.slice(at).join('/');
    const remoteURL = `${scheme}${upper ? withPort.toUpperCase() : withPort}${prefix.join('')}${'/'.repeat(slashes)}`;
    const written = implied && version === 'latest' ? rest : `${rest}:${version}`;
    return {
      source: 'oci',
      destination: { type: 'oci', remoteURL },
      names: lent ? [rest, `other/app:${version}`] : [written],
      spec: {},
    };
  }

  /** The manifest that the worker writes. */
  function request({ destination, names: [first, second] }: Landing): string {
    const name = landingName(second === undefined ? undefined : first, parseImageName(second ?? first));
    const { origin, repository, ...version } = resolveAddress(destination.remoteURL, formatted(name));
    return `${origin}/v2/${repository}/manifests/${writtenTag(version)}`;
  }
  const formatted = ({ repository, tag: version }: ReturnType<typeof parseImageName>) =>
    version === undefined ? repository : `${repository}:${version}`;

  it('are equal for every spelling of one image', () => {
    fc.assert(
      fc.property(host, parts, tag, spelling, spelling, (server, names, version, one, other) => {
        const [a, b] = [image(server, names, version, one), image(server, names, version, other)];
        expect(request(b)).toBe(request(a));
        expect(placeOf(b)).toEqual(placeOf(a));
      }),
    );
  });

  it('are equal exactly where the worker writes the same manifest', () => {
    const any = fc.tuple(host, parts, tag, spelling).map((given) => image(...given));
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(text(placeOf(a) as Place) === text(placeOf(b) as Place)).toBe(request(a) === request(b));
      }),
      { numRuns: 500 },
    );
  });

  it('are equal exactly where the worker writes the same object', () => {
    const name = fc.oneof(part, fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }));
    const object = fc.record({ names: fc.array(name, { minLength: 2, maxLength: 4 }), split: fc.nat(3) });
    /** The URL of an object as it is sent, with each name escaped anew. */
    const writtenAs = ({ names, split }: { names: string[]; split: number }) => {
      const cut = Math.min(split, names.length - 1);
      const prefix = names.slice(0, cut).map((each) => `/${encodeURIComponent(each)}`);
      return { remoteURL: `https://minio${prefix.join('')}`, path: names.slice(cut).join('/') };
    };
    const sent = ({ remoteURL, path }: { remoteURL: string; path: string }) => {
      const { bucketURL, key } = s3Place(remoteURL, path);
      return `${bucketURL.href} ${key}`;
    };
    fc.assert(
      fc.property(object, object, fc.nat(3), (one, other, split) => {
        const given = [one, { ...one, split }, other].flatMap((each) => {
          try {
            const written = writtenAs(each);
            const found = place(written.remoteURL, written.path, { type: 's3' });
            return [[sent(written), JSON.stringify(found)] as const];
          } catch {
            return []; // no worker writes that
          }
        });
        for (const [key, found] of given)
          for (const [other, at] of given) expect(found === at).toBe(key === other);
      }),
      { numRuns: 200 },
    );
  });
});
