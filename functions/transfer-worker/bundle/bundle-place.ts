import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { JobEndpoint } from '#shared/domain';
import { folderNames } from '#shared/domain/address';
import { type Bundles, type CopyOptions, type Progress, TransferError } from '#shared/transfer';
import { config } from './bundle-spec.ts';

/** Options of a job that writes or reads a bundle. */
export interface BundleOptions extends CopyOptions {
  /** The volume for bundles: `file:///x` is the folder x of it, and what comes from or goes to a server is there meanwhile. */
  bundleDir: string;
}

/** Where the bundles of an Endpoint lie. */
export interface BundlePlace {
  /** The folder in which they are, or which has what is made here until it is on a server. */
  folder: string;
  /** The folder that has what `fetch` brings: what came from a server is never taken for something made here. */
  fetched: string;
  /** For messages. */
  label: string;
  /** Has the file of this name in the folder `fetched`; false if there is none. Of a server at most `most` bytes are taken. */
  fetch(name: string, most?: number): Promise<boolean>;
  /** The bytes of the file of this name where it belongs; `unknown` where a server does not tell, undefined where there is none. */
  size(name: string): Promise<number | 'unknown' | undefined>;
  /** Takes the file of this name from `folder` to where it belongs. */
  store(name: string, progress?: Progress): Promise<void>;
  /** True if the folders are only a stop on the way. Then the record says that a bundle is whole: it is stored last, and fetched first. */
  onServer: boolean;
  /** Removes what is in the folders only on its way. */
  tidy(): Promise<void>;
}

/** The folder `file:///path` of the volume for bundles. Rejects with a TransferError. */
export async function folderPlace({ name, remoteURL }: JobEndpoint, bundleDir: string): Promise<BundlePlace> {
  const folder = path.join(bundleDir, ...namesOf(name, remoteURL));
  try {
    await mkdir(folder, { recursive: true });
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw config(
      `The folder of Endpoint "${name}" cannot be used: ${why}. The volume for bundles must be mounted at ${bundleDir} (ARC_BUNDLE_DIR).`,
      caught,
    );
  }
  return {
    folder,
    fetched: folder,
    label: `the folder ${remoteURL}`,
    fetch: (file) => isFile(path.join(folder, file)),
    size: (file) => sizeOf(path.join(folder, file)),
    store: async () => undefined,
    onServer: false,
    tidy: async () => undefined,
  };
}

/** The names of a path below the volume: it cannot lead out of it. */
function namesOf(endpoint: string, remoteURL: string): string[] {
  const names = folderNames(remoteURL);
  if (names) return names;
  throw config(
    `remoteURL of Endpoint "${endpoint}" is "${remoteURL.slice(0, 300)}": a folder for bundles is written file:///out, which is the folder "out" of the volume for bundles, and a server https://host/path or s3://bucket/path.`,
  );
}

async function isFile(file: string): Promise<boolean> {
  return (await sizeOf(file)) !== undefined;
}

/** Bytes of a file; undefined where there is none. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw new TransferError('retryable', `Cannot look for ${file}: ${caught.message}.`, { again: false });
  });
  return found?.isFile() === true ? found.size : undefined;
}

/** A small file with its signature (`.sig`) of one of `keys`; undefined if the file is not there. Rejects with `refusal` for any other signature. */
export async function fetchSigned(
  place: BundlePlace,
  name: string,
  keys: Parameters<Bundles['isSigned']>[2],
  bundles: Bundles,
  refusal: TransferError,
): Promise<Buffer | undefined> {
  if (!(await place.fetch(name, bundles.maxRecordBytes))) return undefined;
  await place.fetch(`${name}.sig`, bundles.maxRecordBytes);
  return readSigned(place.fetched, name, keys, bundles, refusal);
}

/** The same of what is in a folder. */
export async function readSigned(
  folder: string,
  name: string,
  keys: Parameters<Bundles['isSigned']>[2],
  { isSigned, maxRecordBytes }: Bundles,
  refusal: TransferError,
): Promise<Buffer | undefined> {
  const at = path.join(folder, name);
  if (!(await isFile(at))) return undefined;
  if ((await stat(at)).size > maxRecordBytes || !(await isFile(`${at}.sig`))) throw refusal;
  const bytes = await readFile(at);
  if (isSigned(bytes, await readFile(`${at}.sig`), keys)) return bytes;
  throw refusal;
}

/** Removes files of the folder, whether they are there or not. */
export async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true, recursive: true })));
}
