import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { ArcError } from '#shared/base/errors';
import type { Entry } from './tar.ts';

/** Path of Node in the image. */
export const nodePath = '/usr/local/bin/node';

/** The Node version of our devDependency `node`, with which everything is tested, regardless of the Node that runs this script. */
export interface Runtime {
  file: string;
  version: string;
  /** OCI architecture. */
  architecture: string;
}

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Finds the installed Node. Rejects with Invalid if it is not suitable for an image. */
export async function findRuntime(): Promise<Runtime> {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || architecture === undefined)
    throw new ArcError(
      'Invalid',
      `an image contains the Node that npm ci installed, which is for ${process.platform}/${process.arch}: run this on Linux on x64 or arm64`,
    );
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  const { version }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'));
  return { file: path.join(path.dirname(manifest), 'bin', 'node'), version, architecture };
}

/** Returns Node itself: sufficient on a base with glibc and libstdc++. */
export async function nodeEntry({ file }: Pick<Runtime, 'file'>): Promise<Entry> {
  return { type: 'file', path: nodePath.slice(1), mode: 0o755, content: await readFile(file) };
}

/**
 * Returns the files that Node needs without a base: its libraries, copied from this machine, the user, and /tmp. Node itself contains the public
 * CA certificates.
 */
export async function systemEntries({ file }: Runtime): Promise<Entry[]> {
  const libraries = await Promise.all(
    (await librariesOf(file)).map(
      async (library): Promise<Entry> => ({
        type: 'file',
        path: library.slice(1),
        mode: 0o755,
        content: await readFile(library),
      }),
    ),
  );
  return [...libraries, ...userEntries()];
}

/** Returns the user of the programs, the host lookup configuration, and /tmp. */
export function userEntries(): Entry[] {
  const text = (name: string, lines: string[]): Entry => ({
    type: 'file',
    path: name,
    mode: 0o644,
    content: Buffer.from(lines.map((line) => `${line}\n`).join('')),
  });
  return [
    text('etc/passwd', ['root:x:0:0:root:/:/sbin/nologin', 'nonroot:x:65532:65532::/:/sbin/nologin']),
    text('etc/group', ['root:x:0:', 'nonroot:x:65532:']),
    text('etc/nsswitch.conf', ['hosts: files dns']),
    { type: 'directory', path: 'tmp', mode: 0o1777 },
  ];
}

/** glibc before 2.34 loads these by name for host lookups, so ldd does not list them. */
const openedByName = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2'];

async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ldd', [program]).catch((caught: unknown) => {
    throw new ArcError(
      'Invalid',
      `ldd cannot tell which libraries Node needs (${ArcError.from(caught).message}): give --base an image with glibc and libstdc++`,
    );
  });
  const missing = /^\s*(\S+) => not found/m.exec(stdout)?.[1];
  if (missing !== undefined) throw new ArcError('Invalid', `Node needs ${missing}, which is not installed`);
  const listed = [...stdout.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(/gm)].map(([, file = '']) => file);
  const libc = listed.find((file) => path.basename(file).startsWith('libc.so'));
  if (libc === undefined)
    throw new ArcError(
      'Invalid',
      'Node is not linked with glibc here: give --base an image with glibc and libstdc++',
    );
  const named = openedByName
    .map((name) => path.join(path.dirname(libc), name))
    .filter((file) => existsSync(file));
  return [...new Set([...listed, ...named])];
}
