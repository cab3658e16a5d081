import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Io } from './io.ts';

/**
 * Runs `print` and shows its output in the user's pager (PAGER, else less) if it does not fit on the terminal, as git does. `less` keeps
 * colours and exits immediately if everything fits. Without a pager, or with `PAGER=` or `PAGER=cat`, the text is printed directly.
 */
export async function printPaged(io: Io, print: (io: Io) => void | Promise<void>): Promise<void> {
  const pager = io.env.PAGER ?? 'less';
  if (!io.isTerminal || pager === '' || pager === 'cat') return print(io);
  const lines: string[] = [];
  await print({ ...io, line: (text = '') => void lines.push(text) });
  const text = lines.map((line) => `${line}\n`).join('');
  if (lines.length < io.height() || !(await showInPager(pager, text, io.env))) io.write(text);
}

/** Resolves with false if there is no such program. */
async function showInPager(pager: string, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = spawn(pager, {
    shell: true,
    env: { LESS: 'FRX', ...env },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // The pager handles Ctrl-C and q; quitting early is not an error.
  child.stdin.on('error', () => undefined).end(text);
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    const [code] = await once(child, 'close');
    return code !== 127;
  } catch {
    return false;
  } finally {
    process.off('SIGINT', ignore);
  }
}
