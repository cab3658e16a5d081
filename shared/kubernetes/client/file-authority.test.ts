import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuthority } from '../../base/testing/authority.ts';
import { fileAuthority } from './file-authority.ts';

let folder: string;
const before = tls.getCACertificates('default');
const closers: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-authority-'));
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  tls.setDefaultCACertificates(before);
  return rm(folder, { recursive: true });
});

async function serverOf(pair: { cert: string; key: string }): Promise<string> {
  const server = createServer(pair, (_, response) => response.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const text = async (url: string) => (await fetch(url)).text();

describe('fileAuthority', () => {
  it('trusts the file, and a renewed one after a minute', async () => {
    const [first, second] = await Promise.all([createAuthority('first'), createAuthority('second')]);
    const hosts = ['127.0.0.1'];
    const old = await serverOf(await first.issue({ name: 'old' }, { hosts }));
    const renewed = await serverOf(await second.issue({ name: 'renewed' }, { hosts }));
    const path = join(folder, 'ca.crt');
    let now = 0;
    const trust = fileAuthority(path, true, () => now);

    await writeFile(path, first.cert);
    await trust();
    expect(await text(old)).toBe('hello');
    await writeFile(path, second.cert);
    now = 59_999;
    await trust();
    await expect(text(renewed)).rejects.toThrow();
    now = 60_000;
    await trust();
    expect(await text(renewed)).toBe('hello');
    await rm(path);
    now = 120_000;
    await trust();
    expect(await text(renewed)).toBe('hello');
  });

  it('works without a file unless one is required', async () => {
    const path = join(folder, 'none');
    await fileAuthority(path, false)();
    await expect(fileAuthority(path, true)()).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringContaining(path),
    });
  });
});
