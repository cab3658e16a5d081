import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { openSession, type Session } from '#shared/transfer';
import { isFileJob, openFileEnds } from './files.ts';

let session: Session;
beforeEach(() => {
  session = openSession();
});
afterEach(() => session.close());

function job(spec: Job['artifact']['spec'], source = 'http', destination = 'webdav'): Job {
  return {
    artifact: { type: 'file', spec },
    source: { name: 'src', type: source, remoteURL: 'https://files.example.com/pub' },
    destination: { name: 'dst', type: destination, remoteURL: 'https://dav.example.com/in' },
  };
}
const open = (opened: Job) =>
  openFileEnds(opened, { session, folder: '', signal: new AbortController().signal });
const sha256 = 'A'.repeat(64);

describe('a job that moves a file', () => {
  it('has an Endpoint with files', () => {
    expect(isFileJob(job({}))).toBe(true);
    expect(isFileJob(job({}, 'oci', 'oci'))).toBe(false);
  });

  it('reads spec.path and writes spec.override', async () => {
    const { source, destination, ...rest } = await open(
      job({ path: 'a/b.tgz', override: 'x/c.tgz', sha256, mediaType: 'application/gzip' }),
    );
    expect(source.url).toBe('https://files.example.com/pub/a/b.tgz');
    expect(destination.readBack.url).toBe('https://dav.example.com/in/x/c.tgz');
    const expected = `sha256:${sha256.toLowerCase()}`;
    expect(rest).toEqual({ expected, mediaType: 'application/gzip', name: 'b.tgz' });
  });

  it.each([
    ['s3', 'http', 'a/b', undefined, 'https://files.example.com/pub/a/b', 'b'],
    ['http', 's3', 'a/b', 'c/d', 'https://files.example.com/pub/a/b', 'b'],
    ['oci', 'http', 'team/app:1', 'c/d', 'https://files.example.com/pub/team/app', 'd'],
    ['http', 'oci', 'a/b', 'team/app:1', 'https://files.example.com/pub/a/b', 'b'],
  ])('from %s to %s is opened', async (source, destination, path, override, url, name) => {
    const opened = await open(
      job({ path, ...(override === undefined ? {} : { override }) }, source, destination),
    );
    expect(opened).toMatchObject({ source: { url }, name });
  });

  it.each([
    ['oci', 'http', 'team/app:1'],
    ['http', 'oci', 'a/b'],
  ])('from %s to %s needs an override', async (source, destination, path) => {
    await expect(open(job({ path }, source, destination))).rejects.toThrow('spec.override must be the name');
  });

  it.each([
    [{}, 'spec.path'],
    [{ path: 5 }, 'spec.path'],
    [{ path: '../a' }, '"../a"'],
    [{ path: 'a', override: '/etc/passwd' }, '"/etc/passwd"'],
    [{ path: 'a', sha256: 'abc' }, 'spec.sha256'],
    [{ path: 'a', mediaType: 'x\r\ny: z' }, 'spec.mediaType'],
  ])('is refused for the spec %j, naming the field', async (spec, field) => {
    await expect(open(job(spec))).rejects.toThrow(field);
  });

  it('is refused for an Endpoint without files', async () => {
    await expect(open(job({ path: 'a' }, 'http', 'helm'))).rejects.toThrow('type "helm", which has no files');
  });
});
