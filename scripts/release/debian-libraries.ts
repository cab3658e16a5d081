import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import type { Entry } from '../image/tar.ts';
import { type Architecture, otherNames } from './context.ts';
import { runCommand } from './run-command.ts';

/** A Debian package with files in the image. */
export interface Library {
  name: string;
  version: string;
  architecture: Architecture;
  /** The text of its copyright file. */
  license: string;
}

const cache = path.resolve('node_modules/.cache/release/debian');
const packages = ['libc6', 'libgcc-s1', 'libstdc++6'];

/** Libraries linked by Node, and those that glibc loads by name for host lookups. */
const files = [
  ...['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'libgcc_s.so.1', 'libstdc++.so.6'],
  ...['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2'],
];
/** Node's dynamic loader. */
const loaders: Readonly<Record<Architecture, string>> = {
  amd64: 'lib64/ld-linux-x86-64.so.2',
  arm64: 'lib/ld-linux-aarch64.so.1',
};
const listsAgeMs = 24 * 3600 * 1000;

/**
 * Downloads Node's libraries from the Debian release of this machine's apt, which verifies the signatures of its archive. Works for other
 * architectures, and installs nothing. Rejects with Invalid if there is no suitable apt.
 */
export async function debianLibraries(
  architecture: Architecture,
  signal: AbortSignal,
): Promise<{ entries: Entry[]; libraries: Library[] }> {
  const folder = path.join(cache, architecture);
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(path.join(folder, 'run-'));
  try {
    const apt = await aptFor(architecture, folder, signal);
    await apt(['download', ...packages], work);
    const root = path.join(work, 'root');
    for (const file of await readdir(work))
      if (file.endsWith('.deb'))
        await runCommand('dpkg-deb', ['-x', path.join(work, file), root], { signal });
    // The licence of the GCC libraries is in a separate package.
    const shared = await readlink(path.join(root, 'usr/share/doc/libstdc++6'));
    await apt(['download', shared], work);
    const archives = (await readdir(work)).filter((file) => file.endsWith('.deb')).toSorted();
    const last = archives.find((file) => file.startsWith(`${shared}_`)) ?? '';
    await runCommand('dpkg-deb', ['-x', path.join(work, last), root], { signal });
    const libraries = await Promise.all(
      archives
        .filter((file) => file !== last)
        .map((file) => libraryOf(path.join(work, file), { root, architecture, signal })),
    );
    return { entries: await entriesOf(root, architecture), libraries };
  } catch (caught) {
    signal.throwIfAborted();
    throw new ArcError(
      'Invalid',
      `cannot download Debian's libraries for ${architecture} (${ArcError.from(caught).message}): give --base an image with glibc and libstdc++`,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns an apt-get configuration with its own lists and state, for that architecture. */
async function aptFor(architecture: Architecture, folder: string, signal: AbortSignal) {
  const state = path.join(folder, 'apt');
  const [lists, configuration] = [path.join(state, 'lists'), path.join(state, 'apt.conf')];
  await mkdir(path.join(lists, 'partial'), { recursive: true });
  await mkdir(path.join(state, 'cache/archives/partial'), { recursive: true });
  await writeFile(path.join(state, 'status'), '');
  await writeFile(
    configuration,
    `APT::Architecture "${architecture}";
APT::Architectures { "${architecture}"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "${state}";
Dir::State::status "${state}/status";
Dir::Cache "${state}/cache";
`,
  );
  const run = (args: readonly string[], cwd: string) =>
    runCommand('apt-get', args, { signal, cwd, env: { ...process.env, APT_CONFIG: configuration } });
  const updated = path.join(state, 'updated');
  const age = existsSync(updated) ? Date.now() - (await stat(updated)).mtimeMs : listsAgeMs;
  if (age >= listsAgeMs) {
    await run(['update', '--error-on=any'], folder);
    await writeFile(updated, '');
  }
  return run;
}

async function libraryOf(
  file: string,
  { root, architecture, signal }: { root: string; architecture: Architecture; signal: AbortSignal },
): Promise<Library> {
  const fields = await runCommand('dpkg-deb', ['-f', file, 'Package', 'Version'], { signal });
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(fields)?.[1] ?? '';
  const name = field('Package');
  const license = await readFile(path.join(root, 'usr/share/doc', name, 'copyright'), 'utf8');
  return { name, version: field('Version'), architecture, license };
}

async function entriesOf(root: string, architecture: Architecture): Promise<Entry[]> {
  const { gnu } = otherNames[architecture];
  const loader = path.basename(loaders[architecture]);
  const find = (name: string) =>
    ['lib', 'usr/lib', 'lib64', 'usr/lib64']
      .flatMap((folder) => [path.join(root, folder, gnu, name), path.join(root, folder, name)])
      .find((place) => existsSync(place));
  const entryAt = async (name: string, place: string): Promise<Entry> => {
    const found = find(name);
    if (found === undefined) throw new ArcError('Invalid', `${name} is in none of ${packages.join(', ')}`);
    return { type: 'file', path: place, mode: 0o755, content: await readFile(found) };
  };
  return Promise.all([
    entryAt(loader, loaders[architecture]),
    ...files.map((name) => entryAt(name, `lib/${gnu}/${name}`)),
  ]);
}
