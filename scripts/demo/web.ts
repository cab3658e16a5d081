import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { ArcError } from '#shared/base/errors';
import { digestOf } from '#shared/transfer';
import type { DemoChart, WebFile } from './chart.ts';
import type { SourcedArtifact } from './sources.ts';

const fileBytes = 4 * 1024 * 1024;

/** Serves a file and, optionally, a chart repository over HTTP. Resolves with the URL and the artifacts to copy. */
export async function serveWeb(
  stack: AsyncDisposableStack,
  chart: DemoChart | undefined,
): Promise<{ url: string; artifacts: SourcedArtifact[] }> {
  const handbook = randomBytes(fileBytes);
  const served = new Map<string, WebFile>();
  served.set('/dist/handbook.pdf', { type: 'application/pdf', bytes: handbook });
  for (const [name, file] of chart?.files ?? []) served.set(`/charts/${name}`, file);
  const server = http.createServer(({ url = '' }, response) => {
    const file = served.get(url);
    if (!file) return void response.writeHead(404).end();
    response
      .writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length })
      .end(file.bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new ArcError('InternalError', 'the web server has no port');
  const file: SourcedArtifact = {
    name: 'handbook',
    type: 'file',
    source: 'downloads',
    spec: { path: 'dist/handbook.pdf', override: 'mirror/handbook:1.0' },
    arrivals: [
      {
        repository: 'mirror/handbook',
        tag: '1.0',
        digest: digestOf(handbook),
        of: 'layer',
        referrers: 0,
      },
    ],
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    artifacts: [...(chart ? [chart.artifact] : []), file],
  };
}
