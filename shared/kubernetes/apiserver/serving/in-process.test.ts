import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMetrics, type Metrics } from '#shared/base/telemetry';
import { eventually } from '../../../base/testing/eventually.ts';
import { parseAuditPolicy } from '../audit/audit-policy.ts';
import { mergeType, startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';
import { answerChannel, type Call, callChannel, inProcess } from './in-process.ts';

let server: TestServer;
let call: Call;
let metrics: Metrics;
let recorded: unknown[];
/** While pending, authorization of every request waits for it. */
let held: Promise<void> | undefined;
let waiting: number;

beforeEach(async () => {
  held = undefined;
  waiting = 0;
  recorded = [];
  metrics = createMetrics();
  server = await startTestServer({
    authorize: async (user) => {
      waiting += held ? 1 : 0;
      await held;
      return { allowed: user.name === 'admin' };
    },
    metrics,
    audit: {
      policy: parseAuditPolicy('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n'),
      write: (line) => void recorded.push(JSON.parse(line)),
    },
  });
  call = inProcess(server.api);
});
afterEach(() => server.close());

interface Asked {
  body?: object;
  token?: string;
  type?: string;
  signal?: AbortSignal;
}

function ask(method: string, path: string, { body, token = 'admin', type, signal }: Asked = {}) {
  return call(`https://api.test${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'user-agent': 'test',
      ...(body && { 'content-type': type ?? 'application/json' }),
    },
    body: body ? JSON.stringify(body) : null,
    signal: signal ?? new AbortController().signal,
  });
}

async function failure(asked: ReturnType<typeof ask>) {
  const answer = await asked;
  const { status, reason } = JSON.parse(await answer.text());
  return { ok: answer.ok, code: answer.status, status, reason };
}

describe('inProcess', () => {
  it('writes and reads objects as over the wire', async () => {
    const made = await ask('POST', widgets, { body: widget('wörld', undefined, { name: 'world' }) });
    expect(made.status).toBe(201);
    const patch = { spec: { color: 'größer' } };
    await ask('PATCH', `${widgets}/world`, { body: patch, type: mergeType['content-type'] });
    const read = await ask('GET', `${widgets}/world`);
    const over = await server.call('GET', `${widgets}/world`);
    expect(JSON.parse(await read.text())).toEqual(over.body);
    expect(over.body.spec.color).toBe('größer');
    expect(read.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(await (await ask('GET', widgets)).text()).items).toHaveLength(1);
  });

  it('streams bodies as bytes', async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await ask('GET', '/healthz')).body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('ok');
  });

  it('authenticates, authorizes, counts and audits each request', async () => {
    await ask('GET', widgets);
    expect(await failure(ask('GET', widgets, { token: 'eve' }))).toMatchObject({ code: 403 });
    expect(await failure(ask('GET', widgets, { token: 'bad' }))).toMatchObject({ code: 401 });
    const eve = {
      verb: 'list',
      user: expect.objectContaining({ username: 'eve' }),
      userAgent: 'test',
      stage: 'ResponseComplete',
    };
    await eventually('the record', 5_000, () =>
      expect(recorded).toContainEqual(expect.objectContaining(eve)),
    );
    expect(metrics.expose()).toMatch(/^apiserver_request_total\{.*code="403".*\} 1$/m);
  });

  it('responds to an error with a Status', async () => {
    expect(await failure(ask('GET', `${widgets}/none`))).toEqual({
      ok: false,
      code: 404,
      status: 'Failure',
      reason: 'NotFound',
    });
  });

  it('limits the size of a body', async () => {
    const body = widget('large', { free: { text: 'x'.repeat(4 * 1024 * 1024) } });
    expect(await failure(ask('POST', widgets, { body }))).toMatchObject({ code: 413 });
  });

  it('streams a watch until its reader leaves', async () => {
    await ask('POST', widgets, { body: widget('first') });
    const watch = await ask('GET', `${widgets}?watch=true`);
    for await (const chunk of watch.body) {
      expect(JSON.parse(Buffer.from(chunk).toString())).toMatchObject({ type: 'ADDED' });
      break;
    }
    // Resolves only when no request is in flight.
    await server.api.close();
  });

  it('sends each change to a watch immediately, even right after another one', async () => {
    const watch = await ask('GET', `${widgets}?watch=true`);
    const chunks = watch.body[Symbol.asyncIterator]();
    // Over a socket, the second change waits for the flush timer.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      for (const name of ['first', 'second', 'third']) {
        await ask('POST', widgets, { body: widget(name) });
        const chunk = await chunks.next();
        expect(JSON.parse(Buffer.from(chunk.value).toString()).object.metadata.name).toBe(name);
      }
    } finally {
      vi.useRealTimers();
    }
    await chunks.return?.();
  });

  it('ends a watch with the reason of an abort', async () => {
    const control = new AbortController();
    const watch = await ask('GET', `${widgets}?watch=true`, { signal: control.signal });
    setTimeout(() => control.abort(new Error('too late')), 20);
    await expect(async () => {
      for await (const _ of watch.body);
    }).rejects.toThrow('too late');
    await server.api.close();
  });

  it('ends an unread watch on abort', async () => {
    const control = new AbortController();
    await ask('GET', `${widgets}?watch=true`, { signal: control.signal });
    control.abort();
    await server.api.close();
  });

  it('rejects immediately on abort, and the request finishes on its own', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    const control = new AbortController();
    const asked = ask('GET', widgets, { signal: control.signal });
    const refused = expect(asked).rejects.toThrow('too late');
    await eventually('the request', 5_000, () => expect(waiting).toBe(1));
    control.abort(new Error('too late'));
    await refused;
    resolve();
    await server.api.close();
  });

  it('sends no request after an abort or after shutdown', async () => {
    await expect(ask('GET', widgets, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
      'before',
    );
    await server.api.close();
    await expect(ask('GET', widgets)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });

  it('yields to the event loop between two requests', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    for (let index = 0; index < 10; index++) await ask('GET', `${widgets}/none`);
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('publishes each call and its response on the diagnostics channels', async () => {
    const seen: unknown[] = [];
    const note = (message: unknown) => void seen.push(message);
    for (const channel of [callChannel, answerChannel]) subscribe(channel, note);
    await ask('GET', `${widgets}?limit=1`);
    for (const channel of [callChannel, answerChannel]) unsubscribe(channel, note);
    const request = { method: 'GET', url: `${widgets}?limit=1` };
    expect(seen).toMatchObject([{ request }, { request, response: { statusCode: 200 } }]);
  });
});
