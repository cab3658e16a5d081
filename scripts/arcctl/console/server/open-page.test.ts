import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { eventually } from '../../../../shared/base/testing/eventually.ts';
import { openPage } from './open-page.ts';

afterEach(() => void vi.unstubAllEnvs());

it.skipIf(process.platform !== 'linux')(
  'gives the browser a file that only its owner can read, not the address',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'open-page-'));
    const noted = path.join(folder, 'noted');
    await writeFile(
      path.join(folder, 'xdg-open'),
      `#!/bin/sh\nprintf %s "$*" > ${noted}.new && mv ${noted}.new ${noted}`,
    );
    await chmod(path.join(folder, 'xdg-open'), 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    const page = await openPage('http://127.0.0.1:1/?token=secret');
    let opened = '';
    await eventually('the browser', 10_000, async () => {
      opened = await readFile(noted, 'utf8');
    });
    expect(opened).not.toContain('secret');
    const file = fileURLToPath(opened);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain('url=http://127.0.0.1:1/?token=secret');
    await page[Symbol.asyncDispose]();
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await rm(folder, { recursive: true });
  },
);

it('says so when there is nothing to open it', async () => {
  vi.stubEnv('PATH', '/nowhere');
  await expect(openPage('http://127.0.0.1:1/')).rejects.toThrow('ENOENT');
});
