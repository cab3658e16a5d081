import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { isQuiet, openResources } from './quiet.ts';

describe('a process after a run', () => {
  it("is quiet once the run's resources are closed, even a moment later", async () => {
    const before = openResources();
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    setTimeout(() => server.close(), 5);
    expect(await isQuiet(before)).toBe(true);
  });

  it('is not quiet while resources of the run are left', async () => {
    const before = openResources();
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await isQuiet(before)).toBe(false);
    server.close();
  });
});
