import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Bundle } from '../build/bundle.ts';
import type { ReleaseContext } from './context.ts';
import { runCommand } from './run-command.ts';

interface Command {
  name: string;
  description: string;
  /** Its command names with their files. */
  bin: Record<string, string>;
  page: string;
}

const commands: Command[] = [
  {
    name: 'arcctl',
    description: 'Shows and manages Orders of ARC, the Artifact Conduit',
    bin: { arcctl: 'arcctl-start.mjs', 'kubectl-arc': 'arcctl-start.mjs' },
    page: 'docs/arcctl.md',
  },
  {
    name: 'arc-transfer',
    description: 'Copies images, charts and files by digest, with their signatures and SBOMs',
    bin: { 'arc-transfer': 'arc-transfer.mjs' },
    page: 'docs/arc-transfer.md',
  },
];

/** Packs each command as a package for `npm install -g`, without dependencies, because its bundle contains them. */
export async function releaseNpmPackages(
  context: ReleaseContext,
  bundles: readonly Bundle[],
  licenses: string,
): Promise<void> {
  const { folder, workFolder, version, signal } = context;
  const { license }: { license: string } = JSON.parse(await readFile('package.json', 'utf8'));
  for (const { name, description, bin, page } of commands) {
    const staged = path.join(workFolder, 'npm', name);
    await mkdir(staged, { recursive: true });
    // The start file loads the command beside it.
    const own = bundles.filter((bundle) => bundle.name === name || bundle.name === `${name}-start`);
    const files = own.map(({ file }) => path.basename(file));
    for (const { file } of own) await cp(file, path.join(staged, path.basename(file)));
    const manifest = {
      name,
      version,
      description,
      license,
      type: 'module',
      bin,
      engines: { node: '>=22' },
      files: [...files, 'THIRD-PARTY.txt'],
    };
    await writeFile(path.join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await cp('LICENSE', path.join(staged, 'LICENSE'));
    await cp(page, path.join(staged, 'README.md'));
    await writeFile(path.join(staged, 'THIRD-PARTY.txt'), licenses);
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', path.resolve(folder)];
    await runCommand('npm', args, { signal, cwd: staged });
  }
}
