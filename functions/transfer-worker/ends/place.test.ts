import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { placeOf } from '#shared/domain/address';
import { openSession, type Session, type TransferContext } from '#shared/transfer';
import { openEnds } from './ends.ts';
import { openFileEnds } from './files.ts';

let session: Session;
beforeEach(() => {
  session = openSession();
});
afterEach(() => session.close());

const digest = `sha256:${'0'.repeat(64)}`;

type Side = [type: string, remoteURL: string];
const registry: Side = ['oci', 'https://from.example.com'];

function job([from, fromURL]: Side, [to, toURL]: Side, spec: Job['artifact']['spec']): Job {
  return {
    artifact: { type: 'any', spec },
    source: { name: 'src', type: from, remoteURL: fromURL },
    destination: { name: 'dst', type: to, remoteURL: toURL },
  };
}

/** As the plan of an Order asks, of a type whose target is `override`, else what is read. */
function planned({ artifact: { spec }, source, destination }: Job) {
  const [first = '', second] = [spec.override, spec.image ?? spec.path].filter(
    (name) => typeof name === 'string',
  );
  const names: [string, string?] = second === undefined ? [first] : [first, second];
  return placeOf({ source: source.type, destination, names, spec });
}

function context(): TransferContext {
  return { session, folder: '/nowhere', signal: new AbortController().signal };
}

describe('the place that the plan compares is the one that is written to', () => {
  it.each<[string, Job['artifact']['spec']]>([
    ['https://To.example.com:443/m/', { image: 'app' }],
    ['https://to.example.com', { image: 'team/app:1.0', override: 'mirror/app' }],
    ['https://to.example.com', { image: 'team/app:1.0', override: 'mirror/app:2.0' }],
    ['to.example.com', { image: `team/app:1.0@${digest}` }],
    ['to.example.com', { image: `team/app@${digest}` }],
    ['to.example.com', { image: `team/app@${digest}`, platforms: ['linux/amd64'] }],
    ['docker.io', { image: 'alpine:3' }],
  ])('at the registry %s, of %j', async (remoteURL, spec) => {
    const given = job(registry, ['oci', remoteURL], spec);
    const { registry: at, tag, digest: pinned } = (await openEnds(given, context())).destination;
    expect(planned(given)).toEqual({
      server: at?.origin,
      path: tag === undefined ? `${at?.repository}@${pinned}` : `${at?.repository}:${tag}`,
    });
  });

  it.each<[Job['artifact']['spec'], Side]>([
    [{ image: 'team/app' }, registry],
    [{ image: 'team/app:1', override: 'any name' }, registry],
    [{ image: '1.0' }, ['oci-layout', 'file:///from']],
  ])('in a layout, of %j', async (spec, from) => {
    const given = job(from, ['oci-layout', 'file:///to//x/'], spec);
    const { tag } = (await openEnds(given, context())).destination;
    expect(planned(given)).toEqual({ server: 'file:///to/x', path: tag });
  });

  it('of an image that has a tag alone in a layout', async () => {
    const spec = { image: '1.0', override: 'mirror/app' };
    const given = job(['oci-layout', 'file:///from'], ['oci', 'to.example.com'], spec);
    const { tag } = (await openEnds(given, context())).destination;
    expect(planned(given)?.path).toBe(`mirror/app:${tag}`);
  });

  it.each<[Side, Job['artifact']['spec']]>([
    [['http', 'https://TO.example.com//pub/'], { path: 'dist/a b' }],
    [['webdav', 'to.example.com:443'], { path: 'dist/a', override: 'other/a:1' }],
    [['s3', 'https://minio:9000/bucket'], { path: 'dist/a:1', override: 'b' }],
  ])('of a file at %j, of %j', async (to, spec) => {
    const given = job(['http', 'https://from.example.com'], to, spec);
    const { destination } = await openFileEnds(given, context());
    const { server, path } = planned(given) ?? {};
    const { url } = 'readBack' in destination ? destination.readBack : {};
    expect(decodeURIComponent(url ?? '')).toBe(`${server}/${path}`);
  });

  it('of a file at a registry, which lends its name no tag', async () => {
    const spec = { path: 'dist/app:1', override: 'tools/app' };
    const given = job(['http', 'https://from.example.com'], ['oci', 'to.example.com'], spec);
    const { destination } = await openFileEnds(given, context());
    expect(destination.label).toContain('tools/app');
    expect(planned(given)?.path).toBe('tools/app:latest');
  });
});
