import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Io } from './io.ts';

/**
 * Runs `print` and shows what it prints in the pager of the user (PAGER, else less) where a person reads on a terminal that it does not fit on, as git
 * does. `less` keeps colours and ends at once by itself where all fits. Without a pager the text is printed as it is; `PAGER=` or `PAGER=cat` asks for that.
 */
export async function paged(io: Io, print: (io: Io) => void | Promise<void>): Promise<void> {
  const pager = io.env.PAGER ?? 'less';
  if (!io.isTerminal || pager === '' || pager === 'cat') return print(io);
  const lines: string[] = [];
  await print({ ...io, line: (text = '') => void lines.push(text) });
  const text = lines.map((line) => `${line}\n`).join('');
  if (lines.length < io.height() || !(await shownBy(pager, text, io.env))) io.write(text);
}

/** False where there is no such program. */
async function shownBy(pager: string, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = spawn(pager, {
    shell: true,
    env: { LESS: 'FRX', ...env },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // Ctrl-C and q are the pager's: whoever leaves early has seen enough.
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
