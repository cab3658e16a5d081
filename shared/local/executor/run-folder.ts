import { mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import type { KubeClient } from '#shared/kubernetes/client';
import { mountPaths } from '../kinds/supported.ts';
import type { Plan, PlannedContainer } from './plan.ts';
import { inheritedEnvironment } from './processes/inherited-environment.ts';
import { secretsIn } from './secret-values.ts';
import { secrets, type Volume } from './workflow.ts';

/** The files of one attempt, readable only by this user. */
export interface RunFolder {
  path: string;
  /** The folder of each volume. */
  volumes: ReadonlyMap<string, string>;
  progressFile: string;
  /** Texts to mask in the run's output: the values of its Secrets. */
  secrets: readonly string[];
}

/**
 * Creates a fresh folder with the contents of the volumes. A claim is a folder of its own, `claims/namespace/name`, which persists. Rejects
 * with NotFound, in the kubelet's words, for a missing Secret.
 */
export async function makeRunFolder(
  folder: string,
  claims: string,
  plan: Plan,
  namespace: string,
  api: KubeClient,
  signal: AbortSignal,
): Promise<RunFolder> {
  const make = (...parts: string[]) => mkdir(path.join(folder, ...parts), { recursive: true, mode: 0o700 });
  await make('home');
  await make('tmp');
  await make('work');
  const volumes = new Map<string, string>();
  const secretValues: string[] = [];
  for (const [index, volume] of plan.volumes.entries()) {
    if (volume.persistentVolumeClaim) {
      volumes.set(volume.name, await claimFolder(claims, namespace, volume));
      continue;
    }
    // A number instead of the volume's name: names in a template must not become paths.
    const at = path.join(folder, 'volumes', String(index));
    await make('volumes', String(index));
    if (volume.secret) secretValues.push(...(await writeSecret(at, volume, namespace, api, signal)));
    volumes.set(volume.name, at);
  }
  return { path: folder, volumes, progressFile: path.join(folder, 'progress'), secrets: secretValues };
}

/** Created without regard to a claim object: the standalone has no other storage to provide. */
async function claimFolder(claims: string, namespace: string, volume: Volume): Promise<string> {
  const { claimName = '' } = volume.persistentVolumeClaim ?? {};
  if (!/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(claimName) || claimName.includes('..'))
    throw new ArcError('NotFound', `persistentvolumeclaim "${claimName.slice(0, 260)}" not found`);
  const at = path.join(claims, namespace, claimName);
  await mkdir(at, { recursive: true, mode: 0o700 });
  return at;
}

/** Resolves with the secret texts in it. */
async function writeSecret(
  at: string,
  volume: Volume,
  namespace: string,
  api: KubeClient,
  signal: AbortSignal,
): Promise<string[]> {
  const name = volume.secret?.secretName ?? '';
  const found = name === '' ? undefined : await api.get(secrets, { name, namespace }, signal);
  if (found === undefined) {
    if (volume.secret?.optional === true) return [];
    throw new ArcError(
      'NotFound',
      `MountVolume.SetUp failed for volume "${volume.name}" : secret "${name}" not found`,
    );
  }
  const items = volume.secret?.items ?? Object.keys(found.data ?? {}).map((key) => ({ key, path: key }));
  const values: string[] = [];
  for (const item of items) {
    const value = found.data?.[item.key];
    if (value === undefined || !isFileName(item.path)) continue;
    const bytes = Buffer.from(value, 'base64');
    await writeFile(path.join(at, item.path), bytes, { mode: 0o600 });
    values.push(...secretsIn(item.key, bytes.toString('utf8')));
  }
  return values;
}

function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/** Names the run in the environment of its processes, so that survivors of a crash can be distinguished from other processes. */
export const runVariable = 'ARC_RUN';

/** Returns the environment of a container's program: the contents of its mount paths, as variables. */
export function environmentOf(
  run: RunFolder,
  container: PlannedContainer,
  outer: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env = inheritedEnvironment(outer);
  for (const { name, value } of container.env) env[name] = value;
  const work = folderAt(run, container, '/tmp/arc');
  Object.assign(env, {
    HOME: path.join(run.path, 'home'),
    TMPDIR: path.join(run.path, 'tmp'),
    ARC_WORK_DIR: work,
    ARC_RESULT_FILE: path.join(work, 'result.json'),
    ARC_TERMINATION_LOG: terminationLog(run, container),
    ARGO_PROGRESS_FILE: run.progressFile,
    ARC_EXIT_WITH_PARENT: '1',
    // Beside the folders of runs, and removed with them at the next start.
    ARC_WAITS_DIR: path.join(path.dirname(run.path), '.waits'),
    [runVariable]: path.basename(run.path),
  });
  for (const { name, mountPath } of container.mounts) {
    const variable = mountPaths[trimmed(mountPath)];
    const folder = run.volumes.get(name);
    if (variable !== undefined && folder !== undefined) env[variable] = folder;
  }
  return env;
}

export function terminationLog(run: RunFolder, container: PlannedContainer): string {
  return path.join(run.path, `termination-log-${Buffer.from(container.name).toString('hex').slice(0, 64)}`);
}

/** Maps a path of the container to this machine; undefined outside its mounts and /tmp/arc. */
export function localPath(run: RunFolder, container: PlannedContainer, wanted: string): string | undefined {
  for (const mountPath of [...container.mounts.map((mount) => trimmed(mount.mountPath)), '/tmp/arc']) {
    const rest = path.posix.relative(mountPath, path.posix.normalize(wanted));
    if (!rest.startsWith('..') && rest !== '') return path.join(folderAt(run, container, mountPath), rest);
  }
  return undefined;
}

function folderAt(run: RunFolder, container: PlannedContainer, mountPath: string): string {
  const mount = container.mounts.find((one) => trimmed(one.mountPath) === mountPath);
  return run.volumes.get(mount?.name ?? '') ?? path.join(run.path, 'work');
}

function trimmed(mountPath: string): string {
  return mountPath.replace(/\/$/, '');
}

/** Returns the text of a file if it exists, at most `limit` bytes. */
export async function readIfThere(file: string, limit: number): Promise<string | undefined> {
  try {
    await using handle = await open(file, 'r');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(limit), 0, limit, 0);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw caught;
  }
}
