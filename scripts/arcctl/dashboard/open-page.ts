import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Opens an address with a secret in it. Other users of a machine can read the command lines of all programs: so the browser is given a
 * file that only its owner can read, and that leads there. It is deleted when `signal` is aborted. Rejects when there is nothing to open it.
 */
export async function openPage(url: string, signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arcctl-'));
  signal.addEventListener('abort', () => void rm(folder, { recursive: true, force: true }).catch(() => {}), {
    once: true,
  });
  const file = path.join(folder, 'open.html');
  const page = `<!doctype html><title>ARC</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">To the dashboard</a>`;
  await writeFile(file, page, { mode: 0o600 });
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true });
  await once(child, 'spawn');
  child.unref();
}

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
