import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ArcError } from '#shared/base/errors';
import { parsePrivateKey } from '#shared/transfer';
import { buildFunctions, bundleCommands } from '../build/bundle.ts';
import { version } from '../version/version.ts';
import type { ReleaseOptions } from './arguments.ts';
import { releaseBundle } from './bundle.ts';
import { releaseChart } from './chart.ts';
import { architectures, type ReleaseContext } from './context.ts';
import { debianLibraries } from './debian-libraries.ts';
import { executableSource, executables } from './executable-source.ts';
import { releaseExecutables } from './executables.ts';
import { releaseImage } from './image.ts';
import { releaseKrewManifest } from './krew.ts';
import { releaseManifests } from './manifests.ts';
import { releaseNpmPackages } from './npm-packages.ts';
import { provenanceOf, type Subject } from './provenance.ts';
import { findRuntime } from './runtimes.ts';
import { releaseSboms } from './sbom.ts';
import { signFile, signImage, writeStatement } from './signing.ts';
import { licenseText, thirdParties } from './third-party.ts';

const checksums = 'SHA256SUMS';

/**
 * Builds all files of a release in a folder. The same sources, lock file, runtime, libraries and time give the same bytes, except for ECDSA
 * signatures, which are randomized. Rejects with ArcError.
 * @returns the digest of the image
 */
export async function makeRelease(
  options: ReleaseOptions,
  rest: Pick<ReleaseContext, 'time' | 'note' | 'signal'>,
): Promise<string> {
  const { folder, image, base, key, url = `https://example.com/artifact-conduit/v${version}` } = options;
  const signKey = key === undefined ? undefined : parsePrivateKey(await readKey(key), key);
  await clearFolder(folder);
  const workFolder = await mkdtemp(path.join(os.tmpdir(), 'arc-release-'));
  const context: ReleaseContext = {
    ...rest,
    folder,
    workFolder,
    version,
    image,
    url,
    ...(base !== undefined && { base }),
    ...(signKey && { key: signKey }),
  };
  try {
    return await writeRelease(context);
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function writeRelease(context: ReleaseContext): Promise<string> {
  const { folder, workFolder, image, note, signal } = context;
  const bundles = await bundleCommands(path.join(workFolder, 'commands'));
  const functions = await buildFunctions(path.join(workFolder, 'functions'));
  const sources = await Promise.all(executables.map(executableSource));
  const parties = await thirdParties(
    [...bundles, ...functions, ...sources].flatMap(({ packages }) => packages),
  );
  const runtime = await findRuntime('amd64', signal);
  const libraries =
    context.base === undefined
      ? (await Promise.all(architectures.map((each) => debianLibraries(each, signal)))).flatMap(
          (found) => found.libraries,
        )
      : [];
  const licenses = await licenseText(parties, runtime, libraries);
  await writeFile(path.join(folder, 'THIRD-PARTY.txt'), licenses);

  const { root, folder: layout } = await releaseImage(context, licenses);
  const named = `${image}:v${context.version}@${root.digest}`;
  await releaseManifests(context, named);
  await releaseChart(context, named);
  await releaseNpmPackages(context, bundles, licenses);
  await releaseKrewManifest(context, await releaseExecutables(context, licenses));
  const environment = { nodeVersion: runtime.version, libraries };
  await releaseSboms(context, parties, environment);

  const provenance = (subject: Subject[]) => provenanceOf(context, environment, subject);
  await signImage(layout, root, await provenance([]), context);
  await releaseBundle(context, layout);
  const files = await digests(folder);
  await writeFile(
    path.join(folder, checksums),
    files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''),
  );
  await signFile(path.join(folder, checksums), context);
  const subjects = files.map(({ name, sha256 }) => ({ name, digest: { sha256 } }));
  await writeStatement(path.join(folder, 'provenance.json'), await provenance(subjects), context);
  note(`${files.length} files in ${folder}`);
  return root.digest;
}

async function readKey(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((caught: unknown) => {
    throw new ArcError('Invalid', `cannot read the key: ${ArcError.from(caught).message}`);
  });
}

async function clearFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const found = await readdir(folder);
  if (found.length > 0 && !found.includes('THIRD-PARTY.txt'))
    throw new ArcError(
      'Invalid',
      `${folder} contains files that are not a release: choose an empty or new folder`,
    );
  for (const name of found) await rm(path.join(folder, name), { recursive: true });
}

/** Returns the digest of every file, sorted; of the layout only the index, which refers to the rest by digest. */
async function digests(folder: string): Promise<{ name: string; sha256: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith('image/blobs/'))
    .toSorted();
  const found: { name: string; sha256: string }[] = [];
  for (const name of names) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(path.join(folder, name)), hash);
    found.push({ name, sha256: hash.digest('hex') });
  }
  return found;
}
