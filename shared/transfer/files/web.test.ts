import os from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { copyFile } from '../copy/copy-file.ts';
import type { SessionOptions } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import type { FileLocation } from '../servers/location.ts';
import { startFaultServer } from '../testing/fault-server.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { startWebServer, type WebServer, type WebServerOptions } from '../testing/web-server.ts';
import { openWebSink, openWebSource } from './web.ts';

const running: Pick<WebServer, 'close'>[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function server(options: WebServerOptions = {}): Promise<WebServer> {
  const started = await startWebServer(options);
  running.push(started);
  return started;
}

const content = Buffer.from('0123456789'.repeat(20_000));
const digest = digestOf(content);

function seed({ files }: WebServer, path = '/pub/app.tgz', bytes = content): void {
  files.set(path, { bytes, mediaType: 'application/gzip' });
}

interface Copy {
  from?: Partial<FileLocation>;
  to?: Partial<FileLocation>;
  dav?: boolean;
  expected?: string;
  maxBytes?: number;
  retry?: SessionOptions['retry'];
}

function copy(
  source: Pick<WebServer, 'url'>,
  destination: WebServer,
  { from, to, dav = false, retry, maxBytes, ...rest }: Copy = {},
) {
  return copyFile(
    {
      signal: new AbortController().signal,
      workDir: os.tmpdir(),
      retry: { attempts: 3, baseMs: 1, maxMs: 2, ...retry },
      ...(maxBytes === undefined ? {} : { maxBytes }),
    },
    async ({ session }) => ({
      source: openWebSource(
        { name: 'src', remoteURL: `${source.url}/pub`, path: 'app.tgz', ...from },
        session,
      ),
      destination: openWebSink(
        { name: 'dst', remoteURL: `${destination.url}/in`, path: 'a b.tgz', ...to },
        session,
        dav,
      ),
      name: 'a b.tgz',
      ...rest,
    }),
  );
}

const methods = ({ requests }: WebServer): string[] =>
  requests.map(({ method, path }) => `${method} ${path}`);
const plainHTTP = { plainHTTP: true };
const account = { credentials: { username: 'bob', password: 'hunter22' }, tls: plainHTTP };

describe('a file from HTTP to HTTP', () => {
  it('is streamed, hashed and read back', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    const copied = await copy(source, destination);
    expect(copied).toMatchObject({
      digest,
      mediaType: 'application/gzip',
      bytes: { copied: content.length },
    });
    expect(destination.files.get('/in/a b.tgz')).toEqual({ bytes: content, mediaType: 'application/gzip' });
    expect(methods(destination)).toEqual(['HEAD /in/a%20b.tgz', 'PUT /in/a%20b.tgz', 'GET /in/a%20b.tgz']);
  });

  it('arrives complete if it is large enough for lent buffers, also after an interrupted download', async () => {
    const large = Buffer.alloc(40 * 1024 * 1024);
    for (let at = 0; at < large.length; at += 4) large.writeUInt32LE(at, at);
    const [source, destination] = [await server(), await server()];
    seed(source, '/pub/app.tgz', large);
    expect((await copy(source, destination)).digest).toBe(digestOf(large));
    source.fault = ({ method, headers }) =>
      method === 'GET' && headers.range === undefined ? { cutAfter: 10_000_000 } : undefined;
    expect((await copy(source, destination, { to: { path: 'again' } })).digest).toBe(digestOf(large));
    for (const name of ['/in/a b.tgz', '/in/again'])
      expect(destination.files.get(name)?.bytes.equals(large)).toBe(true);
  });

  it('moves nothing if it exists with the expected digest', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    seed(destination, '/in/a b.tgz');
    const repeated = await copy(source, destination, { expected: digest });
    expect(repeated).toMatchObject({ digest, bytes: { copied: 0, existed: content.length } });
    expect(methods(source)).toEqual(['HEAD /pub/app.tgz']);
    expect(methods(destination)).toEqual(['HEAD /in/a%20b.tgz', 'GET /in/a%20b.tgz']);
  });

  it('replaces another file of the same size', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    seed(destination, '/in/a b.tgz', Buffer.alloc(content.length));
    expect(await copy(source, destination, { expected: digest })).toMatchObject({
      bytes: { copied: content.length },
    });
    expect(destination.files.get('/in/a b.tgz')?.bytes).toEqual(content);
  });

  it('resumes an interrupted download', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    source.fault = ({ method, headers }) =>
      method === 'GET' && headers.range === undefined ? { cutAfter: 65_536 } : undefined;
    expect(await copy(source, destination)).toMatchObject({ digest });
    const [, , resumed] = source.requests;
    expect(resumed?.headers).toMatchObject({
      range: 'bytes=65536-',
      'if-range': expect.stringContaining('"'),
    });
  });

  it.each([{ ranges: false }, { etags: false }])('resumes on a server with %j', async (options) => {
    const [source, destination] = [await server(options), await server()];
    seed(source);
    source.fault = ({ method }, index) => (method === 'GET' && index < 2 ? { cutAfter: 65_536 } : undefined);
    expect(await copy(source, destination)).toMatchObject({ digest });
  });

  it.each([{ ranges: false }, {}])('does not mix two versions of a file (%j)', async (options) => {
    const [source, destination] = [await server(options), await server()];
    seed(source);
    source.fault = ({ method }, index) => {
      if (method !== 'GET' || index > 1) return undefined;
      seed(source);
      setImmediate(() => seed(source, '/pub/app.tgz', Buffer.from('abcdefghij'.repeat(20_000))));
      return { cutAfter: 65_536 };
    };
    const failure = await transferFailure(copy(source, destination));
    expect(failure).toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('was changed while it was read'),
    });
    expect(destination.files.size).toBe(0);
  });

  it('stores nothing of a file with another digest', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    const failure = await transferFailure(
      copy(source, destination, { expected: digestOf(Buffer.from('x')) }),
    );
    expect(failure).toMatchObject({
      reason: 'permanent',
      message: expect.stringContaining('instead of the expected sha256:'),
    });
    expect(destination.files.size).toBe(0);
  });

  it('refuses a file over the limit before it moves it', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    const failure = await transferFailure(copy(source, destination, { maxBytes: 199_999 }));
    expect(failure).toMatchObject({ reason: 'permanent', message: expect.stringContaining('195.3 KiB') });
    expect(methods(source)).toEqual(['HEAD /pub/app.tgz']);
  });

  it('stops an endless file at the limit, and stores nothing of it', async () => {
    const endless = await startFaultServer(({ method }, _, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const write = () => {
        while (response.write(chunk));
      };
      if (method === 'HEAD') response.end();
      else write();
      response.on('drain', write);
    });
    running.push(endless);
    const destination = await server({ dav: true });
    destination.folders.add('/in/');
    const maxBytes = 1024 * 1024;
    for (const more of [{}, { expected: digest }]) {
      const failure = await transferFailure(copy(endless, destination, { maxBytes, dav: true, ...more }));
      expect(failure).toMatchObject({
        reason: 'permanent',
        message: expect.stringContaining('has more than the limit of this worker, 1 MiB'),
      });
    }
    expect(destination.files.size).toBe(0);
  });

  it('reports what is missing', async () => {
    const [source, destination] = [await server(), await server()];
    const failure = await transferFailure(copy(source, destination));
    const host = new URL(source.url).host;
    expect(failure.message).toBe(
      `The server answered 404 while reading file "app.tgz" of server ${host}: it does not exist: check the path and remoteURL of Endpoint "src"; without credentials, a private file can appear not to exist.`,
    );
  });

  // Every request in its turn: HEAD and GET of the source, HEAD, PUT and GET of the destination.
  it.each(
    [0, 1, 2, 3, 4].flatMap((position) =>
      [503, 429, 'reset', 408].map((fault) => [position, fault] as const),
    ),
  )('survives at request %i a fault %s', async (position, fault) => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    let count = 0;
    for (const each of [source, destination])
      each.fault = () => {
        count += 1;
        if (count !== position + 1) return undefined;
        return typeof fault === 'number'
          ? { status: fault, headers: { 'retry-after': '0' } }
          : { reset: true };
      };
    expect(await copy(source, destination)).toMatchObject({ digest, bytes: { copied: content.length } });
    expect(destination.files.get('/in/a b.tgz')?.bytes).toEqual(content);
  });

  it('detects that the destination stored other bytes', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    destination.fault = ({ method }) => {
      if (method === 'GET')
        destination.files.set('/in/a b.tgz', { bytes: Buffer.alloc(content.length), mediaType: '' });
      return undefined;
    };
    const failure = await transferFailure(copy(source, destination));
    expect(failure).toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('differs from what was just written'),
    });
  });
});

describe('credentials for HTTP', () => {
  it.each([
    ['bob:hunter22', account],
    ['Bearer t0ken-value', { credentials: { token: 't0ken-value' }, tls: plainHTTP }],
  ])('are sent only after a challenge: %s', async (known, credentials) => {
    const [source, destination] = [await server({ account: known }), await server({ account: known })];
    seed(source);
    expect(await copy(source, destination, { from: credentials, to: credentials })).toMatchObject({ digest });
    for (const { requests } of [source, destination])
      expect(requests.map(({ headers }) => headers.authorization !== undefined)).toEqual(
        requests.map((_, index) => index > 0),
      );
  });

  it('are not sent to a server that allows anonymous access', async () => {
    const [source, destination] = [await server(), await server()];
    seed(source);
    await copy(source, destination, { from: account, to: account });
    expect(source.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  it('are not sent without TLS, unless plainHTTP is set', async () => {
    const [source, destination] = [await server({ account: 'bob:hunter22' }), await server()];
    const failure = await transferFailure(copy(source, destination, { from: { ...account, tls: {} } }));
    expect(failure).toMatchObject({
      reason: 'config',
      message: expect.stringContaining('not sent to 127.0.0.1'),
    });
    expect(source.requests).toEqual([]);
  });

  it('that are wrong are reported', async () => {
    const [source, destination] = [await server({ account: 'bob:other' }), await server()];
    const failure = await transferFailure(copy(source, destination, { from: account }));
    expect(failure).toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('refused the credentials'),
    });
    expect(failure.message).not.toContain('hunter22');
  });
});

describe('redirects', () => {
  async function redirecting(options: Copy['from'] = {}) {
    const [source, elsewhere, destination] = [
      await server({ account: 'bob:hunter22' }),
      await server(),
      await server(),
    ];
    seed(elsewhere, '/blob');
    source.fault = ({ headers }) =>
      headers.authorization === undefined
        ? undefined
        : { status: 302, headers: { location: `${elsewhere.url}/blob` } };
    return { elsewhere, result: copy(source, destination, { from: { ...account, ...options } }) };
  }

  it('to another server are not followed by default', async () => {
    const { elsewhere, result } = await redirecting();
    const failure = await transferFailure(result);
    expect(failure.message).toContain(`it redirects to ${elsewhere.url}, which is not followed`);
    expect(elsewhere.requests).toEqual([]);
  });

  it('to a listed host are followed without credentials', async () => {
    const elsewhere = await server();
    seed(elsewhere, '/blob');
    const [source, destination] = [await server({ account: 'bob:hunter22' }), await server()];
    source.fault = ({ headers }) =>
      headers.authorization === undefined
        ? undefined
        : { status: 302, headers: { location: `${elsewhere.url}/blob` } };
    const redirectHosts = [new URL(elsewhere.url).host];
    expect(await copy(source, destination, { from: { ...account, redirectHosts } })).toMatchObject({
      digest,
    });
    expect(elsewhere.requests.length).toBeGreaterThan(0);
    expect(elsewhere.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it('to a metadata service are refused, even if it is listed', async () => {
    const [source, destination] = [await server(), await server()];
    source.fault = () => ({ status: 302, headers: { location: 'http://169.254.169.254/latest/' } });
    const failure = await transferFailure(
      copy(source, destination, { from: { redirectHosts: ['169.254.169.254'] } }),
    );
    expect(failure).toMatchObject({
      reason: 'config',
      message: expect.stringContaining('may not be reached'),
    });
  });
});

describe('a file to WebDAV', () => {
  it('is renamed when it is complete, in created folders', async () => {
    const [source, destination] = [await server(), await server({ dav: true })];
    destination.folders.add('/in/');
    seed(source);
    await copy(source, destination, { dav: true, to: { path: 'x/y/app.tgz' } });
    expect(destination.files.get('/in/x/y/app.tgz')?.bytes).toEqual(content);
    expect([...destination.files.keys()]).toEqual(['/in/x/y/app.tgz']);
    expect(methods(destination)).toEqual([
      'HEAD /in/x/y/app.tgz',
      'MKCOL /in/x/y/',
      'MKCOL /in/x/',
      'MKCOL /in/x/y/',
      'PUT /in/x/y/.arc-part-app.tgz',
      'GET /in/x/y/.arc-part-app.tgz',
      'MOVE /in/x/y/.arc-part-app.tgz',
    ]);
  });

  it('leaves and touches nothing if the source has other bytes', async () => {
    const [source, destination] = [await server(), await server({ dav: true })];
    destination.folders.add('/in/');
    seed(source);
    seed(destination, '/in/a b.tgz', Buffer.from('old'));
    await transferFailure(copy(source, destination, { dav: true, expected: digestOf(Buffer.from('x')) }));
    expect([...destination.files]).toEqual([
      ['/in/a b.tgz', expect.objectContaining({ bytes: Buffer.from('old') })],
    ]);
  });

  it('is written in place on a server without MOVE, with a warning', async () => {
    const [source, destination] = [await server(), await server({ dav: true })];
    destination.folders.add('/in/');
    destination.fault = ({ method }) => (method === 'MOVE' ? { status: 405 } : undefined);
    seed(source);
    const { warnings } = await copy(source, destination, { dav: true });
    expect(warnings).toEqual([expect.stringContaining('cannot rename files (MOVE)')]);
    expect([...destination.files.keys()]).toEqual(['/in/a b.tgz']);
  });
});
