import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';

const many = Array.from({ length: 10 }, (_, index) => index);
const metrics = createMetrics();
let server: TestServer;
let listening: http.Server;
/** Open connections of greedy clients. */
let held: http.ClientRequest[];
/** Lists of greedy clients block until this resolves. */
let slow: PromiseWithResolvers<void>;
beforeEach(async () => {
  slow = Promise.withResolvers();
  held = [];
  server = await startTestServer({
    metrics,
    limits: { readOnly: 32, mutating: 16, watchesPerUser: 20, exempt: ['conduit'] },
    async authorize({ name }, { verb }) {
      if (name.startsWith('greedy') && verb === 'list') await slow.promise;
      return { allowed: true };
    },
  });
  listening = serve({ fetch: server.api.app.fetch, hostname: '127.0.0.1', port: 0 }) as http.Server;
  await once(listening, 'listening');
});
afterEach(async () => {
  slow.resolve();
  for (const each of held) each.destroy();
  listening.closeAllConnections();
  await server.close();
});

interface Asked {
  agent?: http.Agent;
  method?: string;
  body?: object;
}

function begin(user: string, path: string, { agent, method = 'GET' }: Asked, headers = {}) {
  const { port } = listening.address() as AddressInfo;
  const outgoing = http.request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: agent ?? (false as const),
    headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json', ...headers },
  });
  outgoing.on('error', () => undefined);
  return outgoing;
}

/** Sends a request; resolves with its status and Retry-After. */
async function ask(user: string, path: string, asked: Asked = {}): Promise<string> {
  const text = asked.body ? JSON.stringify(asked.body) : '';
  const outgoing = begin(user, path, asked, text && { 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
  const [answer] = (await once(outgoing, 'response')) as [http.IncomingMessage];
  await answer.resume().on('data', () => undefined);
  if (!answer.complete) await once(answer, 'end');
  const retry = answer.headers['retry-after'];
  return `${answer.statusCode}${retry ? ` ${retry}` : ''}`;
}

/** Begins a watch or a write with an endless body, and keeps its connection. Resolves with the status, if there is a response. */
async function hold(user: string, kind: 'watch' | 'body', size = 1000): Promise<string | undefined> {
  const isWatch = kind === 'watch';
  const path = isWatch ? `${widgets}?watch=true` : widgets;
  const length = isWatch ? {} : { 'content-length': size };
  const outgoing = begin(user, path, { method: isWatch ? 'GET' : 'POST' }, length);
  held.push(outgoing);
  if (isWatch) outgoing.end();
  else outgoing.write('{');
  const answer = once(outgoing, 'response').then(([{ statusCode }]) => String(statusCode));
  answer.catch(() => undefined);
  return isWatch ? await answer : await Promise.race([answer, arrived(user)]);
}

/** Resolves after the server has handled later requests of the user. */
async function arrived(user: string): Promise<undefined> {
  await ask(user, '/livez');
  await ask(user, '/livez');
  return undefined;
}

describe('ten greedy and ten modest users at once', () => {
  it('every modest request succeeds, and only greedy requests are refused', async () => {
    // A share is two reads and one write; at most 16 more requests of a user are queued and the rest are refused.
    const refused: Promise<string>[] = [];
    const answered: Promise<string>[] = [];
    for (const index of many) {
      const user = `greedy-${index}`;
      await Promise.all(many.slice(0, 6).map(() => hold(user, 'body')));
      await Promise.all(many.slice(0, 3).map(() => hold(user, 'watch')));
      const flood = [...many, ...many].map(() => ask(user, widgets));
      refused.push(Promise.race(flood));
      answered.push(...flood);
    }
    expect(await Promise.all(refused)).toEqual(many.map(() => '429 1'));
    const modest = many.map(async (index) => {
      const user = `modest-${index}`;
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const one = `${widgets}/${user}`;
      const answers: string[] = [];
      for (let round = 0; round < 5; round++) {
        answers.push(await ask(user, widgets, { agent, method: 'POST', body: widget(user) }));
        answers.push(await ask(user, one, { agent }));
        answers.push(await ask(user, widgets, { agent }));
        answers.push(await ask(user, one, { agent, method: 'DELETE' }));
      }
      agent.destroy();
      return answers;
    });
    const rounds = many.slice(0, 5).flatMap(() => ['201', '200', '200', '200']);
    expect(await Promise.all(modest)).toEqual(many.map(() => rounds));
    slow.resolve();
    expect(new Set(await Promise.all(answered))).toEqual(new Set(['200', '429 1']));
    expect(server.logged).toEqual([]);
  });
});

describe('a greedy user', () => {
  it('exceeds its limits of watches, connections, requests and bytes, each counted by reason in the metrics', async () => {
    const thirty = [...many, ...many, ...many];
    const watches = await Promise.all(thirty.map(() => hold('a', 'watch')));
    expect(watches.filter((status) => status === '200')).toHaveLength(20);
    expect(watches.filter((status) => status === '429')).toHaveLength(10);
    const writes = await Promise.all(thirty.slice(5).map(() => hold('a', 'body')));
    expect(writes.filter((status) => status === '429')).toHaveLength(5);
    const small = await Promise.all([...thirty, ...many].map(() => hold('b', 'body')));
    expect(small.filter((status) => status === '429').length).toBeGreaterThanOrEqual(8);
    const bodies = await Promise.all([...many, ...many].map(() => hold('c', 'body', 3_000_000)));
    expect(bodies.filter((status) => status === undefined).length).toBeLessThanOrEqual(11);
    const proxied = await Promise.all([...thirty, ...thirty].map(() => hold('conduit', 'watch')));
    expect(new Set(proxied)).toEqual(new Set(['200']));
    const text = metrics.expose();
    const reasons = [...text.matchAll(/apiserver_flowcontrol_rejected_requests_total\{reason="(.*)"\}/g)];
    expect(reasons.map(([, reason]) => reason)).toEqual(
      expect.arrayContaining(['queue-full', 'watches', 'connections', 'requests', 'body-bytes']),
    );
  });
});
