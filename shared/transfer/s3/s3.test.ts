import os from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import type { FileSource } from '../content/file.ts';
import { copyFile } from '../copy/copy-file.ts';
import { openWebSource } from '../files/web.ts';
import type { Session } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import type { FileLocation } from '../servers/location.ts';
import type { FaultServer } from '../testing/fault-server.ts';
import { type S3Server, type S3ServerOptions, startS3Server } from '../testing/s3-server.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { startWebServer, type WebServer } from '../testing/web-server.ts';
import { openS3Sink, openS3Source } from './s3.ts';

const running: FaultServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function storage(options: S3ServerOptions = {}): Promise<S3Server> {
  const started = await startS3Server({ accessKeyID: 'AKID', ...options });
  running.push(started);
  return started;
}

async function web(bytes: Buffer): Promise<WebServer> {
  const started = await startWebServer();
  running.push(started);
  started.files.set('/app.tgz', { bytes, mediaType: 'application/gzip' });
  return started;
}

const kibibyte = 1024;
const small = Buffer.from('0123456789'.repeat(1000));
const partBytes = 64 * kibibyte;
/** Three parts, the last one shorter. */
const large = Buffer.alloc(160 * kibibyte, 'some bytes that are not all the same');
/** The ETag of a part of zeros. */
const md5OfZeros = 'fcd6bcb56c1689fcef28b57c22475bad';
const credentials = { accessKeyID: 'AKID', secretAccessKey: 'a-secret-key' };

interface Copy {
  expected?: string;
  to?: Partial<FileLocation>;
  signal?: AbortSignal;
}

function copy(
  openSource: (session: Session) => FileSource,
  destination: S3Server,
  { to, signal = new AbortController().signal, ...rest }: Copy = {},
) {
  const location = {
    name: 'dst',
    remoteURL: `${destination.url}/bucket/in`,
    path: 'a b.tgz',
    credentials,
    ...to,
  };
  const retry = { attempts: 3, baseMs: 1, maxMs: 2 };
  return copyFile({ signal, workDir: os.tmpdir(), retry }, async ({ session }) => ({
    source: openSource(session),
    destination: openS3Sink(location, session, partBytes),
    name: 'a b.tgz',
    ...rest,
  }));
}

const fromWeb =
  ({ url }: WebServer) =>
  (session: Session) =>
    openWebSource({ name: 'src', remoteURL: url, path: 'app.tgz' }, session);
const fromS3 =
  ({ url }: S3Server, path: string) =>
  (session: Session) =>
    openS3Source({ name: 'src', remoteURL: `${url}/bucket`, path, credentials }, session);
const stored = ({ objects }: S3Server) => objects.get('/bucket/in/a b.tgz');
const methods = ({ requests, url }: FaultServer) =>
  requests.map(({ method, path }) =>
    `${method} ${[...new URL(path, url).searchParams.keys()].join(' ')}`.trim(),
  );

describe('a file to S3', () => {
  it('that is small is one request, with its digest as metadata', async () => {
    const [source, destination] = [await web(small), await storage()];
    expect(await copy(fromWeb(source), destination)).toMatchObject({
      digest: digestOf(small),
      bytes: { copied: 10_000 },
    });
    expect(stored(destination)).toMatchObject({
      bytes: small,
      headers: { 'content-type': 'application/gzip', 'x-amz-meta-sha256': digestOf(small).slice(7) },
    });
    expect(methods(destination)).toEqual(['HEAD', 'PUT', 'HEAD']);
  });

  it('that is empty is copied', async () => {
    const [source, destination] = [await web(Buffer.alloc(0)), await storage()];
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(Buffer.alloc(0)) });
    expect(stored(destination)?.bytes.length).toBe(0);
  });

  it.each([{}, { expected: digestOf(large) }])('that is large is sent in parts (%j)', async (options) => {
    const [source, destination] = [await web(large), await storage()];
    expect(await copy(fromWeb(source), destination, options)).toMatchObject({
      digest: digestOf(large),
      warnings: [],
    });
    expect(stored(destination)?.bytes.equals(large)).toBe(true);
    expect(stored(destination)?.headers).toMatchObject({ 'x-amz-meta-sha256': digestOf(large).slice(7) });
    expect(destination.uploads.size).toBe(0);
    expect(methods(destination).filter((line) => line === 'PUT partNumber uploadId')).toHaveLength(3);
  });

  it.each([{}, { expected: digestOf(small) }])('that exists is not moved again (%j)', async (options) => {
    const [source, destination] = [await web(small), await storage()];
    await copy(fromWeb(source), destination);
    destination.requests.length = 0;
    source.requests.length = 0;
    const repeated = await copy(fromWeb(source), destination, options);
    expect(repeated).toMatchObject({
      digest: digestOf(small),
      bytes: { existed: small.length, copied: 0 },
    });
    expect([methods(source), methods(destination)]).toEqual([['HEAD'], ['HEAD']]);
  });

  it('that has changed at its source is moved again', async () => {
    const [source, destination] = [await web(small), await storage()];
    await copy(fromWeb(source), destination);
    const other = Buffer.from('9876543210'.repeat(1000));
    source.files.set('/app.tgz', { bytes: other, mediaType: '' });
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(other) });
    expect(stored(destination)?.bytes).toEqual(other);
  });

  it('is not completed if its digest is not the expected one', async () => {
    for (const content of [small, large]) {
      const [source, destination] = [await web(content), await storage()];
      const failure = await transferFailure(
        copy(fromWeb(source), destination, { expected: digestOf(Buffer.from('x')) }),
      );
      expect(failure).toMatchObject({ reason: 'permanent' });
      expect([destination.objects.size, destination.uploads.size]).toEqual([0, 0]);
    }
  });

  it('resumes with the parts of an earlier attempt', async () => {
    const [source, destination] = [await web(large), await storage()];
    const fault = ({ method, path }: { method: string; path: string }) =>
      method === 'PUT' && path.includes('partNumber=3') ? { status: 500 } : undefined;
    destination.fault = fault;
    expect(await transferFailure(copy(fromWeb(source), destination))).toMatchObject({ reason: 'retryable' });
    expect(destination.uploads.size).toBe(1);
    destination.fault = () => undefined;
    destination.requests.length = 0;
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(large) });
    expect(stored(destination)?.bytes.equals(large)).toBe(true);
    expect(methods(destination).filter((line) => line === 'PUT partNumber uploadId')).toHaveLength(1);
  });

  it('replaces parts of an earlier attempt that have changed', async () => {
    const [source, destination] = [await web(large), await storage()];
    destination.uploads.set('old', {
      path: '/bucket/in/a b.tgz',
      headers: { 'x-amz-meta-sha256': '0'.repeat(64) },
      parts: new Map([[1, { bytes: Buffer.alloc(partBytes), etag: `"${md5OfZeros}"` }]]),
    });
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(large) });
    expect(stored(destination)?.bytes.equals(large)).toBe(true);
    expect(stored(destination)?.headers).toMatchObject({ 'x-amz-meta-sha256': digestOf(large).slice(7) });
  });

  it('causes a warning if the storage stores no metadata', async () => {
    const [source, destination] = [await web(small), await storage({ metadata: false })];
    const { warnings } = await copy(fromWeb(source), destination);
    expect(warnings).toEqual([expect.stringContaining('stores no digest of file "a b.tgz"')]);
  });

  // Every request of a copy in parts in its turn, of both ends.
  it.each(Array.from({ length: 13 }, (_, position) => position))(
    'survives a fault at request %i',
    async (position) => {
      for (const fault of [{ status: 503 }, { reset: true } as const]) {
        const [source, destination] = [await web(large), await storage()];
        let count = 0;
        for (const server of [source, destination])
          server.fault = () => (count++ === position ? fault : undefined);
        expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(large) });
        expect(stored(destination)?.bytes.equals(large)).toBe(true);
        expect(destination.uploads.size).toBe(0);
      }
    },
  );

  it('is complete if only the response to its completion was lost', async () => {
    const [source, destination] = [await web(large), await storage()];
    destination.fault = ({ method, path }) =>
      method === 'POST' && path.includes('uploadId=') && destination.uploads.size > 0
        ? { cutAfter: 0 }
        : undefined;
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(large) });
  });

  it('is retried if the storage reports an error with status 200', async () => {
    const [source, destination] = [await web(large), await storage()];
    let failed = false;
    destination.fault = ({ method, path }) => {
      if (failed || method !== 'POST' || !path.includes('uploadId=')) return undefined;
      failed = true;
      return {
        status: 200,
        body: '<Error><Code>InternalError</Code><Message>We encountered</Message></Error>',
      };
    };
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(large) });
  });

  it('finds the region by itself', async () => {
    const [source, destination] = [await web(small), await storage({ region: 'eu-west-3' })];
    expect(await copy(fromWeb(source), destination)).toMatchObject({ digest: digestOf(small) });
    expect(stored(destination)?.bytes).toEqual(small);
    expect(await copy(fromWeb(source), destination)).toMatchObject({ bytes: { existed: small.length } });
  });

  it.each([
    [{ credentials: { ...credentials, accessKeyID: 'OTHER' } }, 'auth', 'it refused the keys'],
    [{ credentials: { token: 't0ken' } }, 'config', 'needs accessKeyID and secretAccessKey'],
  ])('explains what is wrong with %j', async (to, reason, message) => {
    const [source, destination] = [await web(small), await storage()];
    const failure = await transferFailure(copy(fromWeb(source), destination, { to }));
    expect(failure).toMatchObject({ reason, message: expect.stringContaining(message) });
    expect(failure.message).not.toContain('a-secret-key');
  });

  it('stops at once, and leaves the parts for the next attempt', async () => {
    const [source, destination] = [await web(large), await storage()];
    const stop = new AbortController();
    destination.fault = ({ path }) => {
      if (path.includes('partNumber=2')) stop.abort();
      return undefined;
    };
    const failure = await transferFailure(copy(fromWeb(source), destination, { signal: stop.signal }));
    expect(failure.reason).toBe('retryable');
    expect([destination.objects.size, destination.uploads.size]).toEqual([0, 1]);
  });
});

describe('a file from S3', () => {
  async function seeded(bytes: Buffer, options: S3ServerOptions = {}): Promise<S3Server> {
    const server = await storage(options);
    await copy(fromWeb(await web(bytes)), server, {
      to: { remoteURL: `${server.url}/bucket`, path: 'from' },
    });
    server.requests.length = 0;
    return server;
  }

  it('to another storage is streamed, and compared with the digest in its metadata', async () => {
    const [source, destination] = [await seeded(small), await storage()];
    expect(await copy(fromS3(source, 'from'), destination)).toMatchObject({
      bytes: { copied: small.length },
    });
    const object = source.objects.get('/bucket/from');
    source.objects.set('/bucket/from', {
      ...object,
      bytes: Buffer.alloc(5),
      etag: '"x"',
      headers: object?.headers ?? {},
    });
    const failure = await transferFailure(copy(fromS3(source, 'from'), destination));
    expect(failure).toMatchObject({
      reason: 'permanent',
      message: expect.stringContaining('instead of the expected'),
    });
    expect(stored(destination)?.bytes).toEqual(small);
  });

  it('within one storage is read once and not sent', async () => {
    const server = await seeded(large);
    const copied = await copy(fromS3(server, 'from'), server);
    expect(copied).toMatchObject({ digest: digestOf(large), bytes: { mounted: large.length, copied: 0 } });
    expect(stored(server)?.bytes.equals(large)).toBe(true);
    expect(stored(server)?.headers).toMatchObject({ 'x-amz-meta-sha256': digestOf(large).slice(7) });
    expect(methods(server)).toEqual(['HEAD', 'HEAD', 'GET', 'PUT']);
  });

  it('within one storage is neither read nor sent if the storage has a checksum of its own', async () => {
    const server = await seeded(small);
    const object = server.objects.get('/bucket/from');
    const checksum = Buffer.from(digestOf(small).slice(7), 'hex').toString('base64');
    if (object)
      server.objects.set('/bucket/from', { ...object, headers: { 'x-amz-checksum-sha256': checksum } });
    expect(await copy(fromS3(server, 'from'), server)).toMatchObject({ bytes: { mounted: small.length } });
    expect(methods(server)).toEqual(['HEAD', 'HEAD', 'PUT']);
  });

  it('is sent if the storage cannot copy', async () => {
    const server = await seeded(small, { metadata: false });
    expect(await copy(fromS3(server, 'from'), server)).toMatchObject({ bytes: { copied: small.length } });
  });

  it('is resumed only in the same version', async () => {
    const [source, destination] = [await seeded(large), await storage()];
    source.fault = ({ method, headers }) =>
      method === 'GET' && headers.range === undefined ? { cutAfter: 70 * kibibyte } : undefined;
    expect(await copy(fromS3(source, 'from'), destination)).toMatchObject({ digest: digestOf(large) });
    expect(source.requests.find(({ headers }) => headers.range !== undefined)?.headers).toMatchObject({
      'if-match': source.objects.get('/bucket/from')?.etag,
    });
  });
});
