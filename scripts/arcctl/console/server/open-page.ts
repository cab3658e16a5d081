import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Opens a URL that contains a secret. Other users of a machine can read the command lines of all processes, so the browser gets a file that
 * only its owner can read, which redirects to the URL. Disposing deletes the file. Rejects if no browser can be started.
 */
export async function openPage(url: string): Promise<AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arcctl-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const file = path.join(folder, 'open.html');
  const page = `<!doctype html><title>ARC</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">To the dashboard</a>`;
  await writeFile(file, page, { mode: 0o600 });
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
  } catch (caught) {
    await remove();
    throw caught;
  }
  child.unref();
  return { [Symbol.asyncDispose]: remove };
}

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
