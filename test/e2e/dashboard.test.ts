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

async function page(where: string): Promise<string> {
  const answer = await visit(`${origin}${where}`, { headers: { cookie } });
  expect(answer.status, where).toBe(200);
  return answer.text();
}

/** Does what a person does: reads the question, and sends its form. */
async function act(name: string, verb: string): Promise<void> {
  const [, csrf = ''] =
    /name="csrf" value="([^"]+)"/.exec(await page(`/orders/people/${name}/${verb}`)) ?? [];
  const answer = await visit(`${origin}/orders/people/${name}/${verb}`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ csrf }),
  });
  const next = `/orders/people/${name}?done=${verb}`;
  expect([answer.status, answer.headers.get('location')]).toEqual([303, next]);
  await page(next);
}

/** Follows the page of an Order until it shows `text`. */
function until(name: string, text: string): Promise<void> {
  return untilIn(`/live/orders/people/${name}`, text);
}

/** Reads a stream until it has `text`. */
async function untilIn(where: string, text: string): Promise<void> {
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(60_000)]);
  const { body } = await visit(`${origin}${where}`, { headers: { cookie }, signal });
  let seen = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes(text)) break;
  }
  closing.abort();
  expect(seen).toContain(text);
}

describe('the dashboard of the standalone', { timeout: 200_000 }, () => {
  it('shows an Order while it arrives, with its Events', async () => {
    await tenant.order('moved', [artifact('moved', 'good/app')]);
    await until('moved', '1 artifact: 1 Succeeded');
    expect(await page('/')).toContain('1 of 1');
    const shown = await page('/orders/people/moved');
    expect(shown).toMatch(/sha256:[0-9a-f]{64}/);
    await eventually('its Events', 10_000, async () =>
      expect(await page('/orders/people/moved')).toContain('<strong>Completed</strong>'),
    );
  });

  it('shows why one failed, its log, and brings it in with a retry', async () => {
    await tenant.order('failed', [artifact('failed', 'later/app')], { retry: { limit: 0 } });
    const log = untilIn('/follow/orders/people/failed', 'event: lines\ndata: failed: ');
    await until('failed', '1 artifact: 1 Failed');
    await log;
    expect(await page('/orders/people/failed')).toContain('later/app:1.0 does not exist');
    expect(await page('/orders/people/failed/log/0')).toMatch(/Pod [\s\S]*<pre[^>]*>[\s\S]*later\/app/);
    await seedImage(conduit.source, 'later/app', '1.0', image);
    await act('failed', 'retry');
    await until('failed', '1 artifact: 1 Succeeded');
  });

  it('cancels what hangs', async () => {
    conduit.source.faults.add({ path: /^\/v2\/slow\//, fault: { kind: 'hang' }, times: 100 });
    await seedImage(conduit.source, 'slow/app', '1.0', image);
    await tenant.order('slow', [artifact('slow', 'slow/app')]);
    await until('slow', '1 artifact: 1 Running');
    await act('slow', 'cancel');
    await until('slow', '1 artifact: 1 Cancelled');
    conduit.source.faults.clear();
  });

  it('shows Endpoints with what their probes have found', async () => {
    await eventually('both are ready', 30_000, async () =>
      expect(await page('/endpoints')).toMatch(/Endpoints: .*\b2 ready/),
    );
  });

  it('answers to its own address only', async () => {
    const { port } = new URL(origin);
    await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(421);
    expect((await visit(origin)).status).toBe(401);
  });
});
