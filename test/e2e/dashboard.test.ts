import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedImage } from '#shared/local';
import { createProgram } from '../../scripts/arcctl/program.ts';
import { type QuietIo, quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { signIn, visit } from '../../scripts/arcctl/testing/visit.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type Conduit, startConduit, type Tenant } from '../fixtures/standalone/conduit.ts';

const image = { platforms: ['linux/amd64'], layers: 1, layerBytes: 32 * 1024, signature: false };
const ending = new AbortController();

let conduit: Conduit;
let tenant: Tenant;
let io: QuietIo;
let command: Promise<unknown>;
let origin: string;
let cookie: string;

beforeAll(async () => {
  conduit = await startConduit();
  tenant = await conduit.tenant('people');
  await seedImage(conduit.source, 'good/app', '1.0', image);
  io = quietIo({
    env: { KUBECONFIG: path.join(conduit.folder, 'state', 'kubeconfig') },
    signal: ending.signal,
  });
  command = createProgram(io).parseAsync(['node', 'arcctl', 'dashboard']);
  await eventually('the address', 30_000, async () => expect(io.printed).toHaveLength(1));
  ({ origin } = new URL(io.printed[0] ?? ''));
  cookie = await signIn(io.printed[0] ?? '');
});
afterAll(async () => {
  ending.abort();
  await command;
  await conduit?.close();
});

const artifact = (name: string, from: string) => ({
  name,
  type: 'oci',
  spec: { image: `${from}:1.0`, override: `${name}:1.0` },
});

async function read(where: string): Promise<string> {
  const answer = await visit(`${origin}${where}`, { headers: { cookie } });
  expect(answer.status, where).toBe(200);
  return answer.text();
}

/** Does what the page of an Order does. */
async function act(name: string, action: string): Promise<void> {
  const { csrf } = JSON.parse(await read('/api/session')) as { csrf: string };
  const answer = await visit(`${origin}/api/orders/people/${name}/actions`, {
    method: 'POST',
    body: JSON.stringify({ action }),
    headers: { cookie, 'content-type': 'application/json', 'x-arc-csrf': csrf },
  });
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
}

/** Follows an Order until a change says that. */
function until(name: string, pattern: RegExp): Promise<void> {
  return untilIn(`/api/live/orders/people/${name}`, pattern);
}

/** Reads a stream until it has that. */
async function untilIn(where: string, pattern: RegExp): Promise<void> {
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(60_000)]);
  const { body } = await visit(`${origin}${where}`, { headers: { cookie }, signal });
  let seen = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (pattern.test(seen)) break;
  }
  closing.abort();
  expect(seen).toMatch(pattern);
}

const phase = (name: string) => new RegExp(`"order":\\{[^}]*"phase":"${name}"`);

describe('the dashboard of the standalone', { timeout: 200_000 }, () => {
  it('shows an Order while it arrives, with its Events and its pods', async () => {
    await tenant.order('moved', [artifact('moved', 'good/app')]);
    await until('moved', phase('Succeeded'));
    await untilIn('/api/live/orders/people/moved', /"digest":"sha256:[0-9a-f]{64}"/);
    await untilIn('/api/live/orders/people/moved', /"reason":"Completed"/);
    expect(await read('/api/orders/people/moved/runs')).toMatch(/"kind":"Workflow".*"pods":\[\{"name":/);
    expect(await read('/orders/people/moved')).toContain('<div id="root"');
  });

  it('shows why one failed, its log, and brings it in with a retry', async () => {
    await tenant.order('failed', [artifact('failed', 'later/app')], { retry: { limit: 0 } });
    const log = untilIn('/api/follow/people/failed', /event: lines\ndata: .*"artifact":"failed"/);
    await until('failed', phase('Failed'));
    await log;
    await until('failed', /later\/app:1\.0 does not exist/);
    expect(await read('/api/orders/people/failed/logs/0')).toMatch(/Pod .*later\/app/);
    await seedImage(conduit.source, 'later/app', '1.0', image);
    await act('failed', 'retry');
    await until('failed', phase('Succeeded'));
  });

  it('cancels what hangs', async () => {
    conduit.source.faults.add({ path: /^\/v2\/slow\//, fault: { kind: 'hang' }, times: 100 });
    await seedImage(conduit.source, 'slow/app', '1.0', image);
    await tenant.order('slow', [artifact('slow', 'slow/app')]);
    await until('slow', phase('Running'));
    await act('slow', 'cancel');
    await until('slow', phase('Cancelled'));
    conduit.source.faults.clear();
  });

  it('shows Endpoints with what their probes have found', async () => {
    await untilIn('/api/live/endpoints', /"state":"ready".*"state":"ready"/);
  });

  it('answers to its own address only', async () => {
    const { port } = new URL(origin);
    await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(421);
    expect((await visit(origin)).status).toBe(401);
  });
});
