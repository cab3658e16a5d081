import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEmbeddedStore } from '#shared/kubernetes/storage';

const writer = fileURLToPath(new URL('./store-writer.ts', import.meta.url));
/** Where this user may: as the first process of a pid namespace of its own, as in a container. The mount namespace is removed with it. */
const inNamespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount'];
const canUnshare = succeeds([...inNamespace, 'true']);
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'arc-lock-'));
});

afterEach(() => rm(root, { recursive: true }));

describe('the folder of an embedded store', () => {
  it.runIf(canUnshare)('has one user, in whatever pid namespace others are', async () => {
    const folder = join(root, 'store');
    const first = await running([...inNamespace, process.execPath, writer, folder]);
    // The second one is process 1 in its namespace as well.
    expect(outputOf([...inNamespace, process.execPath, writer, folder])).toMatch(
      /the store in .+ is in use by process 1 of host .+ since .+: stop it first/,
    );
    await expect(openEmbeddedStore({ folder })).rejects.toMatchObject({ code: 'Conflict' });
    // Its own child, the writer, is killed with it.
    await kill(first);
    // Each revision has one key, or the store would not open.
    const store = await vi.waitFor(() => openEmbeddedStore({ folder }), { timeout: 10_000 });
    expect(await store.revision()).toBeGreaterThan(1);
    await store.close();
  });

  it.runIf(canUnshare).each([
    ['tmpfs', 'mount -t tmpfs none "$0"'],
    [
      'overlay',
      'mount -t tmpfs none "$0" && mkdir "$0/low" "$0/up" "$0/work" && mount -t overlay none -o lowerdir="$0/low",upperdir="$0/up",workdir="$0/work" "$0"',
    ],
  ])('has one user on %s, too', (_, mount) => {
    const folder = join(root, 'mounted');
    mkdirSync(folder);
    // One shell makes the mount, which only its own processes see.
    const script = `${mount} || { echo cannot mount; exit; }
      "$1" "$2" "$0/store" > "$0/said" & first=$!
      until grep -q lane "$0/said"; do sleep 0.05; done
      "$1" "$2" "$0/store" 2>&1 | grep -m1 -o 'is in use by process'
      kill -9 $first; wait $first
      timeout -s KILL 20 "$1" "$2" "$0/store" | grep -m1 -o open`;
    const said = outputOf([...inNamespace, 'sh', '-c', script, folder, process.execPath, writer]);
    if (!said.includes('cannot mount'))
      expect(said.match(/is in use by process|open/g)).toEqual(['is in use by process', 'open']);
  });
});

function succeeds([command = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/** All that a process says until it ends. */
function outputOf(command: readonly string[]): string {
  const script = ['-c', '"$@" 2>&1 || true', 'sh', ...command];
  return execFileSync('sh', script, { encoding: 'utf8', timeout: 40_000 });
}

/** A process that has written something. */
async function running([command = '', ...args]: readonly string[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.startsWith('/lane')) break;
  child.stdout.resume();
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  child.kill('SIGKILL');
  await exited;
}
