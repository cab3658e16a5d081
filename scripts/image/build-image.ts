import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSession, type Session, type SessionOptions } from '#shared/transfer';
import { type Bundle, buildFunctions } from '../build/bundle.ts';
import { version } from '../version/version.ts';
import type { ImageOptions } from './arguments.ts';
import { assembleImage, type Image } from './assemble.ts';
import { readBase } from './base.ts';
import { type Layer, makeLayer } from './layer.ts';
import { writeArchive, writeLayout } from './layout.ts';
import { programEntries } from './programs.ts';
import { pushImage } from './push.ts';
import { locate, readDockerConfig } from './registry-access.ts';
import { findRuntime, nodeEntry, type Runtime, systemEntries } from './runtime.ts';

export interface BuildContext extends SessionOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Time of all files and of the image, in seconds since 1970. */
  time: number;
  note: (text: string) => void;
  /** Builds the programs of the image in a folder. Default: every deployable of functions/. */
  bundle?: (folder: string) => Promise<Bundle[]>;
  signal: AbortSignal;
}

/**
 * Builds the image of all programs and pushes or writes it (docs/decisions/0012-one-image.md).
 * @returns `host/path:tag@digest` of a pushed image, else its digest. Rejects with ArcError; messages contain no secrets.
 */
export async function buildImage(options: ImageOptions, context: BuildContext): Promise<string> {
  const { env, note, signal } = context;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-image-'));
  const session = openSession({ ...context, proxyEnv: env });
  try {
    const asked = options.base !== undefined || options.push !== undefined;
    const dockerConfig = asked ? await readDockerConfig(env, note) : undefined;
    const open = (reference: string | undefined, actions: 'pull' | 'pull,push') =>
      reference === undefined ? undefined : session.repository(locate(reference, dockerConfig), actions);
    // Opened first: an invalid reference fails before the build.
    const destination = open(options.push, 'pull,push');
    const base = open(options.base, 'pull');
    const image = await assemble(context, session, base, folder);
    note(`image ${image.manifest.digest}, linux/${image.platform.architecture}`);
    const name = options.name ?? options.push?.replace(/^https?:\/\//, '');
    if (options.layout !== undefined || options.archive !== undefined) {
      const layout = options.layout ?? path.join(folder, 'layout');
      await writeLayout([image], { folder: layout, name, session, base }, signal);
      if (options.archive !== undefined) await writeArchive(layout, options.archive, context.time);
    }
    if (!destination) return image.manifest.digest;
    await pushImage(image, { session, destination, base, folder, note }, signal);
    const { host, repository, tag = 'latest' } = destination.address;
    return `${host}/${repository}:${tag}@${image.manifest.digest}`;
  } catch (caught) {
    throw session.explain(caught, signal);
  } finally {
    session.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function assemble(
  context: BuildContext,
  session: Session,
  repository: ReturnType<Session['repository']> | undefined,
  folder: string,
): Promise<Image> {
  const { note, signal, time, bundle = buildFunctions } = context;
  const runtime = await findRuntime();
  const base = repository && (await readBase(session, repository, runtime.architecture, signal));
  note(base ? `base ${base.name}@${base.digest}, ${base.layers.length} layers` : 'no base image');
  const layers = [await runtimeLayer(runtime, base !== undefined, time)];
  note(`Node ${runtime.version}: ${mebibytes(layers[0])}`);
  const bundles = await bundle(path.join(folder, 'programs'));
  layers.push(await makeLayer(await programEntries(bundles), time, 'the programs of ARC'));
  note(`${bundles.length} programs: ${mebibytes(layers[1])}`);
  return assembleImage({ base, architecture: runtime.architecture, layers, created: time, version });
}

async function runtimeLayer(runtime: Runtime, hasBase: boolean, time: number): Promise<Layer> {
  const node = await nodeEntry(runtime);
  const entries = hasBase ? [node] : [node, ...(await systemEntries(runtime))];
  return makeLayer(entries, time, `Node ${runtime.version}${hasBase ? '' : ' and its libraries'}`);
}

function mebibytes(layer: Layer | undefined): string {
  return `${((layer?.bytes.length ?? 0) / 1024 / 1024).toFixed(1)} MiB`;
}
