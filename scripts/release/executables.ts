import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packFiles } from './archive.ts';
import { type Architecture, architectures, type ReleaseContext } from './context.ts';
import {
  type Executable,
  type ExecutableSource,
  executableSource,
  executables,
} from './executable-source.ts';
import { runCommand } from './run-command.ts';
import { findRuntime } from './runtimes.ts';

/** Node's constants of a single executable application (nodejs.org/api/single-executable-applications.html). */
const resource = 'NODE_SEA_BLOB';
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** A packed program for one platform. */
export interface PackedExecutable {
  name: Executable;
  architecture: Architecture;
  /** The .tar.gz. */
  file: string;
}

/**
 * Builds each program as a single executable for each architecture: Node with the program, packed with the licences. It needs no Node
 * installation: Linux with glibc 2.28 and libstdc++.
 */
export async function releaseExecutables(
  context: ReleaseContext,
  licenses: string,
): Promise<PackedExecutable[]> {
  const { folder, version, time, note } = context;
  const made: PackedExecutable[] = [];
  const license = await readFile('LICENSE');
  for (const name of executables) {
    const source = await executableSource(name);
    for (const architecture of architectures) {
      const content = await readFile(await makeExecutable(name, source, architecture, context));
      const file = path.join(folder, `${name}-${version}-linux-${architecture}.tar.gz`);
      const files = [
        { name, content, mode: 0o755 },
        { name: 'LICENSE', content: license },
        { name: 'THIRD-PARTY.txt', content: Buffer.from(licenses) },
      ];
      await writeFile(file, await packFiles(files, time));
      note(`${path.basename(file)}`);
      made.push({ name, architecture, file });
    }
  }
  return made;
}

/** Builds one executable, not packed; resolves with its path. */
export async function makeExecutable(
  name: Executable,
  { script, files, hasAddon }: ExecutableSource,
  architecture: Architecture,
  { workFolder, signal }: Pick<ReleaseContext, 'workFolder' | 'signal'>,
): Promise<string> {
  const runtime = await findRuntime(architecture, signal);
  const folder = path.join(workFolder, `${name}-${architecture}`);
  await mkdir(folder, { recursive: true });
  const inFolder = (file: string) => path.join(folder, file);
  await writeFile(inFolder('main.cjs'), script);
  const assets: Record<string, string> = {};
  if (hasAddon) {
    const listed = JSON.stringify(files);
    const addon = await readFile(runtime.addon);
    const digest = createHash('sha256').update(listed).update(addon).digest('hex');
    await writeFile(inFolder('files.json'), listed);
    await writeFile(inFolder('digest'), digest);
    for (const asset of ['files.json', 'digest']) assets[asset] = inFolder(asset);
    assets['lmdb.node'] = runtime.addon;
  }
  const config = {
    // Relative, because the blob contains the path of its script.
    main: 'main.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    // Disabled: both contain code compiled by this machine's Node, but the executable may be for another architecture.
    useSnapshot: false,
    useCodeCache: false,
    assets,
  };
  await writeFile(inFolder('sea.json'), JSON.stringify(config));
  // Node from `npm ci` has the version of the runtime: the blob format differs between versions.
  const node = path.resolve('node_modules/node/bin/node');
  await runCommand(node, ['--experimental-sea-config', 'sea.json'], { signal, cwd: folder });
  const executable = inFolder(name);
  await writeFile(executable, await readFile(runtime.file));
  const inject = ['postject/dist/cli.js', executable, resource, inFolder('blob'), '--sentinel-fuse', fuse];
  await runCommand(node, [path.join('node_modules', inject[0] ?? ''), ...inject.slice(1)], { signal });
  await chmod(executable, 0o755);
  return executable;
}
