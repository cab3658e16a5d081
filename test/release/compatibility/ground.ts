import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { run as arcTransfer } from '../../../scripts/arc-transfer/program.ts';
import { tarOf } from '../../../scripts/image/tar.ts';

/** Where the tools of one case work. */
export interface Ground {
  /** A folder of the case's own. */
  folder: string;
  /** A registry with `image:1` (OCI), `docker:1` (Docker, version 2 schema 2) and `index:1` (two platforms). */
  base: string;
  /** Runs a program of other people; resolves with what it prints. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Runs `arc-transfer`. Rejects with what it prints if it fails. */
  arc(...args: string[]): Promise<void>;
}

/** One way in which people use a tool with a registry. */
export interface Case {
  tool: string;
  format: string;
  /** Makes the artifact `reference` (host/repository:1). */
  write(ground: Ground, reference: string): Promise<unknown>;
  /** Reads what ARC has moved to `reference`, all of it, and rejects if it is not what `write` has made. */
  read(ground: Ground, reference: string): Promise<unknown>;
  /** What is moved is no image of a registry: how ARC brings it from one reference to the other, if not by `arc-transfer copy`. */
  move?(ground: Ground, from: string, to: string): Promise<void>;
}

/** Makes the ground of a case in a folder of its own. */
export async function groundIn(
  parent: string,
  tools: string,
  base: string,
  hosts: readonly string[],
): Promise<Ground> {
  const folder = await mkdtemp(path.join(parent, 'case-'));
  // regctl and regsync have no flag for it that all of their commands take.
  const config = {
    version: 1,
    hosts: Object.fromEntries([base, ...hosts].map((host) => [host, { tls: 'disabled' }])),
  };
  await mkdir(path.join(folder, '.regctl'));
  await writeFile(path.join(folder, '.regctl', 'config.json'), JSON.stringify(config));
  // podman and buildah fail where DOCKER_CONFIG has none.
  await writeFile(path.join(folder, 'config.json'), '{}');
  const env = {
    HOME: folder,
    TMPDIR: folder,
    DOCKER_CONFIG: folder,
    PATH: `${tools}:/usr/bin:/bin`,
    COSIGN_PASSWORD: '',
    SYFT_REGISTRY_INSECURE_USE_HTTP: 'true',
    SYFT_CHECK_FOR_APP_UPDATE: 'false',
  };
  return {
    folder,
    base,
    async run(program, ...args) {
      const { stdout } = await promisify(execFile)(program, args, {
        env,
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
        timeout: 60_000,
      });
      return stdout.trimEnd();
    },
    async arc(...args) {
      let printed = '';
      const write = (text: string) => (printed += text);
      const signal = AbortSignal.timeout(60_000);
      const exitCode = await arcTransfer(args, { stdout: { write }, stderr: { write }, env, signal });
      if (exitCode !== 0)
        throw new Error(`arc-transfer ${args.join(' ')}: exit code ${exitCode}\n${printed}`);
    },
  };
}

/** Fills a registry with the images that cases start from. */
export async function seedBase({ folder, base, run }: Ground): Promise<void> {
  for (const [name, layers] of [
    ['amd64', 1],
    ['arm64', 3],
  ] as const) {
    const files = Array.from({ length: layers }, (_, index) => path.join(folder, `${name}-${index}.tar`));
    for (const [index, file] of files.entries()) {
      const content = Buffer.from(`${name} ${index}\n`.repeat(5000));
      await writeFile(
        file,
        await tarOf([{ type: 'file', path: `data/${name}-${index}`, mode: 0o644, content }], 0),
      );
    }
    const layersOf = files.flatMap((file) => ['--new_layer', file]);
    const image = `${base}/${name}:1`;
    await run('crane', 'append', '--oci-empty-base', ...layersOf, '--new_tag', image);
    await run('crane', 'mutate', image, '--set-platform', `linux/${name}`, '--tag', image);
  }
  await run('crane', 'copy', `${base}/arm64:1`, `${base}/image:1`);
  await run(
    'crane',
    'append',
    '--new_layer',
    path.join(folder, 'amd64-0.tar'),
    '--new_tag',
    `${base}/docker:1`,
  );
  await run(
    ...([
      'crane',
      'index',
      'append',
      '--manifest',
      `${base}/amd64:1`,
      '--manifest',
      `${base}/arm64:1`,
    ] as const),
    ...['--tag', `${base}/index:1`],
  );
}

/** The digest of what a tag names, as crane is told. */
export function digestAt({ run }: Ground, reference: string): Promise<string> {
  return run('crane', 'digest', reference);
}
