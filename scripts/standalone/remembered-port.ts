import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The port of the last start in `folder`, so that a kubeconfig in use stays right; 0 (any) at the first. */
export async function rememberedPort(folder: string): Promise<number> {
  try {
    return Number.parseInt(await readFile(path.join(folder, 'port'), 'utf8'), 10) || 0;
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw caught;
  }
}

export function rememberPort(folder: string, port: number): Promise<void> {
  return writeFile(path.join(folder, 'port'), String(port));
}
