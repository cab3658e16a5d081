import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from './run-command.ts';

/** Cache of packages for other platforms, which `npm ci` does not install. Their versions are part of the path. */
const cache = path.resolve('node_modules/.cache/release');

/** Resolves with a folder with a package of the npm registry, downloaded once. npm verifies the download. */
export async function npmPackage(name: string, version: string, signal: AbortSignal): Promise<string> {
  const folder = path.join(cache, 'npm', `${name.replace('/', '+')}@${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(path.dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}.`);
  try {
    const args = ['pack', `${name}@${version}`, '--silent', '--pack-destination', partial];
    const archive = (await runCommand('npm', args, { signal })).trim();
    await runCommand('tar', ['-xzf', path.join(partial, archive), '-C', partial], { signal });
    if (!existsSync(folder)) await rename(path.join(partial, 'package'), folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the version of an installed package. */
export function installedVersion(name: string): string {
  const manifest = path.resolve('node_modules', name, 'package.json');
  const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
  return version;
}
