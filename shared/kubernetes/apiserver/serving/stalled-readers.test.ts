import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAuthority } from '../../../base/testing/authority.ts';
import { endStalledReaders } from './connection-limits.ts';

const stallMs = 500;
/** More than the socket buffers of both ends hold. */
const large = Buffer.alloc(32 * 1024 * 1024);
let server: Server;
let ca: string;
let answered: ServerResponse;
beforeEach(async () => {
  const authority = await createAuthority('serving');
  ca = authority.cert;
  server = createServer(await authority.issue({ name: 'server' }, { hosts: ['localhost'], use: 'server' }));
  server.on('request', (_request, response) => {
    answered = response;
    response.flushHeaders();
  });
  endStalledReaders(server, stallMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function begin(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: '127.0.0.1', servername: 'localhost', port, ca, agent: false });
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return answer.on('error', () => undefined);
}

/** Chunks of the size in which response bodies are sent. */
function* inParts(bytes: Buffer): Generator<Buffer> {
  const size = 512 * 1024;
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

it('ends the connection of a client that does not read', async () => {
  const answer = await begin();
  answer.pause();
  answered.write(large);
  await once(answered, 'close');
  expect(answered.writableFinished).toBe(false);
});

it('ends the connection also after a long idle period', async () => {
  const answer = await begin();
  answer.pause();
  await sleep(3 * stallMs);
  expect(answered.closed).toBe(false);
  answered.write(large);
  await once(answered, 'close');
});

it('keeps the connection of a slow reader, and of a client with nothing to read', async () => {
  const answer = await begin();
  await sleep(3 * stallMs);
  const sent = pipeline(inParts(large), answered);
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    // The kernel reports writability when a third of its buffer is free.
    if (bytes % (1024 * 1024) < chunk.byteLength) await sleep(stallMs / 20);
  }
  await sent;
  expect(bytes).toBe(large.byteLength);
});
