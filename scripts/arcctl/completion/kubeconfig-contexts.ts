import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isRecord } from '#shared/base/meta';

/** Returns the context names in the kubeconfigs that kubectl would read; unreadable files are skipped. */
export async function contextNames(env: NodeJS.ProcessEnv, chosen: string | undefined): Promise<string[]> {
  const usual = env.KUBECONFIG || path.join(env.HOME ?? os.homedir(), '.kube', 'config');
  const files = chosen === undefined ? usual.split(path.delimiter) : [chosen];
  const { parse } = await import('yaml');
  const names: string[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const config: unknown = parse(text);
    const contexts =
      isRecord(config) && Array.isArray(config.contexts) ? config.contexts.filter(isRecord) : [];
    names.push(...contexts.map(({ name }) => String(name)));
  }
  return names;
}
