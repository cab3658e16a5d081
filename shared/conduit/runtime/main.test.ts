import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort, post, until } from './testing/requests.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

/** A container's process as the bundle has it: one module that calls runMain. */
function run(fn: string, env: Record<string, string>) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const code = `import { runMain } from '#shared/conduit/runtime'; await runMain(${fn}, 'unit');`;
  const process_ = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, ARC_API_SERVER: 'http://127.0.0.1:9', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = process_;
  let output = '';
  const add = (piece: Buffer) => {
    output += piece.toString('utf8');
  };
  process_.stdout.on('data', add);
  process_.stderr.on('data', add);
  return { process: process_, output: () => output, exit: once(process_, 'exit') };
}

describe('runMain', () => {
  it('serves on PORT until SIGTERM, finishes deliveries in flight and exits 0', async () => {
    const port = await freePort();
    const fn = `{
      handle: async ({ log }) => { log.info('begun'); await new Promise((go) => process.once('SIGTERM', () => setTimeout(go, 50))); },
      shutdown: async () => console.log('shut down'),
    }`;
    const {
      process: running,
      output,
      exit,
    } = run(fn, { PORT: String(port), K_SERVICE: 'svc', K_REVISION: 'svc-1' });
    await until('the line that it is ready', () => output().includes('"ready"'));
    const delivery = fetch(`http://127.0.0.1:${port}/`, post());
    await until('the delivery', () => output().includes('begun'));
    running.kill('SIGTERM');
    expect((await delivery).status).toBe(204);
    expect(await exit).toEqual([0, null]);
    expect(output()).toContain('"revision":"svc-1"');
    expect(output()).toContain('shut down');
  });

  it.each([
    ['a wrong environment', '{}', { PORT: 'eighty' }, /PORT: .*text of 6 characters/],
    ['no API server', '{}', { ARC_API_SERVER: '' }, /KUBERNETES_SERVICE_HOST is not set/],
    [
      'an init that fails',
      '{ init: async () => { throw new Error("no setting") } }',
      { PORT: '0' },
      /no setting/,
    ],
  ])('logs %s and exits 1', async (_, fn, env, message) => {
    const { output, exit } = run(fn, env);
    expect(await exit).toEqual([1, null]);
    expect(output()).toMatch(message);
    expect(output()).toMatch(/"level":"fatal"/);
  });
});
