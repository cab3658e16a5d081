import { afterAll, beforeAll, expect } from 'vitest';
import { type Answer, rawClient, type Sent } from '../../fixtures/http/raw-http.ts';
import { startApi, type TestApi } from '../../fixtures/standalone/api-server.ts';

export const group = '/apis/arc.opendefense.cloud/v1alpha1';
export const orders = `${group}/namespaces/default/orders`;
export const artifact = {
  type: 'oci',
  srcRef: { name: 'a' },
  dstRef: { name: 'b' },
  spec: { image: 'a:1' },
};
export const order = (spec: unknown, metadata: object = {}) => ({
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'Order',
  metadata: { name: 'hostile', ...metadata },
  spec,
});

/** A server that a file of tests attacks: there before its first test, and judged behind its last. */
export interface Attacked {
  api: TestApi;
  send: ReturnType<typeof rawClient>;
  /** Posts an Order. */
  post(body: unknown, sent?: Sent): Promise<Answer>;
}

/** Whatever a client does: the process serves on, and the log of its own failures stays empty. */
export function attacked(): Attacked {
  const server = {} as Attacked;
  beforeAll(async () => {
    server.api = await startApi();
    server.send = rawClient(server.api);
    server.post = (body, sent = {}) =>
      server.send('POST', orders, { body: typeof body === 'string' ? body : JSON.stringify(body), ...sent });
    for (const [path, object] of [
      ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }],
      [orders, order({ artifacts: [artifact, { ...artifact, name: 'b' }] }, { name: 'target' })],
    ] as const) {
      expect((await server.send('POST', path, { body: JSON.stringify(object) })).code).toBe(201);
    }
  });
  afterAll(async () => {
    const alive = await server.send('GET', `${orders}/target`);
    await server.api[Symbol.asyncDispose]();
    expect(alive.code).toBe(200);
    expect(server.api.log).toEqual([]);
    expect(process.memoryUsage.rss()).toBeLessThan(1_500_000_000);
  });
  return server;
}

/** No message that people read holds a control character or a change of direction, whatever it quotes. */
const unprintable = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const causeTexts = (causes: { message: string; field?: string }[]) =>
  causes.flatMap(({ message, field = '' }) => [message, field]);

/** The answer has to be a Status of that code and a reason, short enough to be read. */
export function refused(answer: Answer, code: number): { message: string; fields: string[] } {
  expect([answer.code, answer.text.slice(0, 300)]).toEqual([
    code,
    // Whoever asks for it gets it indented.
    expect.stringMatching(/"kind": ?"Status"/),
  ]);
  const status = JSON.parse(answer.text);
  expect(status).toMatchObject({ apiVersion: 'v1', status: 'Failure', code, reason: expect.any(String) });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.text.length).toBeLessThan(100_000);
  expect(status.message).not.toMatch(/undefined|\[object|Maximum call stack|node_modules/);
  for (const text of [status.message, ...causeTexts(status.details?.causes ?? [])])
    expect(text).not.toMatch(unprintable);
  const fields = (status.details?.causes ?? []).map((cause: { field?: string }) => cause.field ?? '');
  return { message: status.message, fields };
}

export const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
export const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
