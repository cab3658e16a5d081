import path from 'node:path';
import { type Descriptor, openSession } from '#shared/transfer';
import { buildFunctions } from '../build/bundle.ts';
import { assembleImage } from '../image/assemble.ts';
import { readBase } from '../image/base.ts';
import { makeLayer } from '../image/layer.ts';
import { writeLayout } from '../image/layout.ts';
import { programEntries, programFolder } from '../image/programs.ts';
import { locate, readDockerConfig } from '../image/registry-access.ts';
import { nodeEntry, userEntries } from '../image/runtime.ts';
import type { Entry } from '../image/tar.ts';
import { type Architecture, architectures, type ReleaseContext } from './context.ts';
import { debianLibraries, type Library } from './debian-libraries.ts';
import { findRuntime } from './runtimes.ts';

export interface ReleasedImage {
  /** Digest of the index. */
  root: Descriptor;
  /** The OCI layout. */
  folder: string;
  /** Debian packages in its layers; empty with a base. */
  libraries: Library[];
}

/**
 * Builds the image of all programs for each architecture, with an index, as an OCI layout in the folder `image` of the release. `licenses` is the
 * text that it includes.
 */
export async function releaseImage(context: ReleaseContext, licenses: string): Promise<ReleasedImage> {
  const { folder: release, workFolder, version, time, image, note, signal } = context;
  const folder = path.join(release, 'image');
  const bundles = await buildFunctions(path.join(workFolder, 'programs'));
  const license: Entry = {
    type: 'file',
    path: `${programFolder.slice(1)}/THIRD-PARTY.txt`,
    mode: 0o644,
    content: Buffer.from(licenses),
  };
  const programs = await makeLayer(
    [...(await programEntries(bundles)), license],
    time,
    'the programs of ARC',
  );
  const session = openSession({ retry: { attempts: 4 }, proxyEnv: process.env });
  try {
    const config = context.base === undefined ? undefined : await readDockerConfig(process.env, note);
    const repository =
      context.base === undefined ? undefined : session.repository(locate(context.base, config), 'pull');
    const libraries: Library[] = [];
    const assemble = async (architecture: Architecture) => {
      const runtime = await findRuntime(architecture, signal);
      const base = repository && (await readBase(session, repository, architecture, signal));
      const own = base ? undefined : await debianLibraries(architecture, signal);
      libraries.push(...(own?.libraries ?? []));
      const entries = [await nodeEntry(runtime), ...(own ? [...own.entries, ...userEntries()] : [])];
      const node = await makeLayer(
        entries,
        time,
        `Node ${runtime.version}${own ? ' and its libraries' : ''}`,
      );
      note(`image for linux/${architecture}: Node ${runtime.version}`);
      return assembleImage({ base, architecture, layers: [node, programs], created: time, version });
    };
    const [first, ...others] = architectures;
    const images = [await assemble(first)] as [Awaited<ReturnType<typeof assemble>>];
    for (const architecture of others) images.push(await assemble(architecture));
    const name = `${image}:v${version}`;
    const root = await writeLayout(images, { folder, name, session, base: repository }, signal);
    return { root, folder, libraries };
  } catch (caught) {
    throw session.explain(caught, signal);
  } finally {
    session.close();
  }
}
