import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWebServer, type WebServer } from '../../../shared/transfer/testing/web-server.ts';
import { moveJob } from '../transfer-job.ts';

let from: WebServer;
let to: WebServer;
beforeEach(async () => {
  [from, to] = [await startWebServer({ dav: true }), await startWebServer({ dav: true })];
  put(from, '/pub/a.txt', 'a');
  put(from, '/pub/sub dir/b.txt', 'b');
  put(from, '/pub/sub dir/c.tgz', 'c');
  put(from, '/other.txt', 'other');
});
afterEach(() => Promise.all([from.close(), to.close()]));

function put({ files, folders }: WebServer, path: string, text: string): void {
  const names = path.split('/').slice(0, -1);
  for (let end = 1; end <= names.length; end += 1) folders.add(`${names.slice(0, end).join('/')}/`);
  files.set(path, { bytes: Buffer.from(text), mediaType: 'text/plain' });
}

function move(spec: object, type = 'webdav') {
  return moveJob(
    {
      artifact: { type: 'file', spec: { path: 'pub/', override: 'm/', ...spec } },
      source: { name: 'from', type, remoteURL: from.url },
      destination: { name: 'to', type: 'webdav', remoteURL: `${to.url}/mirror` },
    },
    { signal: new AbortController().signal, workDir: os.tmpdir(), retry: { attempts: 1 } },
  );
}

describe('a folder by WebDAV', () => {
  it('arrives with everything below it', async () => {
    expect(await move({})).toMatchObject({ items: { total: 3, copied: 3 }, bytes: { copied: 3 } });
    expect([...to.files.keys()].toSorted()).toEqual([
      '/mirror/m/a.txt',
      '/mirror/m/sub dir/b.txt',
      '/mirror/m/sub dir/c.tgz',
    ]);
  });

  it('arrives in part, and files outside the filter are not deleted', async () => {
    put(to, '/mirror/m/old.txt', 'old');
    put(to, '/mirror/m/old.tgz', 'old');
    put(to, '/mirror/old.txt', 'beside');
    expect(await move({ include: '*.txt', deletions: 'Delete' })).toMatchObject({
      items: { total: 2, copied: 2, deleted: 1 },
    });
    expect([...to.files.keys()].toSorted()).toEqual([
      '/mirror/m/a.txt',
      '/mirror/m/old.tgz',
      '/mirror/m/sub dir/b.txt',
      '/mirror/old.txt',
    ]);
  });

  it('with a failed file has the others moved, and nothing deleted', async () => {
    put(to, '/mirror/m/old.txt', 'old');
    from.fault = ({ path }) => (path.endsWith('/b.txt') ? { status: 403 } : undefined);
    await expect(move({ deletions: 'Delete' })).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringMatching(/1 of 3 artifacts were not moved\. sub dir\/b\.txt: /),
      items: { total: 3, copied: 2, failed: 1 },
    });
    expect(to.files.has('/mirror/m/old.txt')).toBe(true);
    expect(to.files.has('/mirror/m/a.txt')).toBe(true);
  });

  it.each([
    [{ path: 'none/' }, /None of the 0 files in folder "none\/"/],
    [{ deletions: 'Yes' }, /spec\.deletions must be Keep or Delete/],
    [{ include: [5] }, /spec\.include must be a list of patterns/],
    [{ sha256: '0'.repeat(64) }, /spec\.sha256 applies to one file/],
  ])('with %j is refused', async (spec, message) => {
    await expect(move(spec)).rejects.toThrow(message);
    expect(to.files.size).toBe(0);
  });

  it('cannot come from a registry', async () => {
    await expect(move({}, 'oci')).rejects.toThrow(/"oci", which has no folders/);
  });
});
