import os from 'node:os';
import { expect, it } from 'vitest';
import { copyFile } from '../copy/copy-file.ts';
import { startFaultServer } from '../testing/fault-server.ts';
import { startWebServer } from '../testing/web-server.ts';
import { openWebSink, openWebSource } from './web.ts';

it('a web server that redirects in a loop is reported', async () => {
  const looping = await startFaultServer((request, _, response) =>
    response.writeHead(302, { location: request.path, 'content-length': 0 }).end(),
  );
  const web = await startWebServer();
  try {
    const copied = copyFile(
      { signal: new AbortController().signal, workDir: os.tmpdir(), retry: { attempts: 1 } },
      async ({ session }) => ({
        source: openWebSource({ name: 'from', remoteURL: looping.url, path: 'a' }, session),
        destination: openWebSink({ name: 'to', remoteURL: web.url, path: 'a' }, session, false),
        name: 'a',
      }),
    );
    await expect(copied).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(/redirects in a loop/),
    });
  } finally {
    await Promise.all([looping.close(), web.close()]);
  }
});
