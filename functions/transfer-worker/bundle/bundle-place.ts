import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { JobEndpoint } from '#shared/domain';
import { folderNames } from '#shared/domain/address';
import { type Bundles, type CopyOptions, type Progress, TransferError } from '#shared/transfer';
import { config } from './bundle-spec.ts';

/** Options of a job that writes or reads a bundle. */
export interface BundleOptions extends CopyOptions {
  /** The volume for bundles: `file:///x` is its folder x; files of servers are stored there temporarily. */
  bundleDir: string;
}

/** The location of an Endpoint's bundles. */
export interface BundlePlace {
  /** The folder of the bundles, or the staging folder of those for a server. */
  folder: string;
  /** The folder that `fetch` downloads to, kept apart from what was made here. */
  fetched: string;
  /** For messages. */
  label: string;
  /** Downloads a file to `fetched`; false if it does not exist. From a server at most `most` bytes are accepted. */
  fetch(name: string, most?: number): Promise<boolean>;
  /** The size of a file at its location; `unknown` if the server does not report it, undefined if it does not exist. */
  size(name: string): Promise<number | 'unknown' | undefined>;
  /** Uploads a file of `folder` to its location. */
  store(name: string, progress?: Progress): Promise<void>;
  /** True if the folders are only staging. The record then marks a bundle as complete: it is stored last, and fetched first. */
  onServer: boolean;
  /** Removes the staged files. */
  tidy(): Promise<void>;
}

/** Opens the folder `file:///path` of the volume for bundles. Rejects with a TransferError. */
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

/** The names of a path below the volume, which it cannot leave. */
function namesOf(endpoint: string, remoteURL: string): string[] {
  const names = folderNames(remoteURL);
  if (names) return names;
  throw config(
    `remoteURL of Endpoint "${endpoint}" is "${remoteURL.slice(0, 300)}": use file:///out for the folder "out" of the volume for bundles, or https://host/path or s3://bucket/path for a server.`,
  );
}

async function isFile(file: string): Promise<boolean> {
  return (await sizeOf(file)) !== undefined;
}

/** The size of a file in bytes; undefined if it does not exist. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw new TransferError('retryable', `Cannot look for ${file}: ${caught.message}.`, { again: false });
  });
  return found?.isFile() === true ? found.size : undefined;
}

/** Fetches a small file signed (`.sig`) by one of `keys`; undefined if it does not exist. Rejects with `refusal` without a valid signature. */
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

/** Reads a signed file from a folder. */
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

/** Removes files, whether they exist or not. */
export async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true, recursive: true })));
}
