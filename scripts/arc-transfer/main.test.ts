import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it('arc-transfer ends silently when its reader has gone', async () => {
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), '--help'], {
    env: { NODE_COMPILE_CACHE, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([said, code]).toEqual(['', 141]);
});
