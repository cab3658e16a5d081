import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleType, type Job, type JobEndpoint } from '#shared/domain';
import { TransferError } from '#shared/transfer';
import { serversFolder } from './bundle/server-place.ts';

/** The worker's own folders, which no Endpoint may name. */
export interface WorkerFolders {
  /** The volume for bundles, whose subfolders Endpoints may name. */
  bundleDir: string;
  /** Configuration, credentials, temporary files, and the quarantine. */
  private: readonly string[];
}

/**
 * Rejects with a config TransferError if an Endpoint of the job names one of the worker's own folders or a path in one, including by `..`, escapes
 * or symbolic links. A bundle's folder must not leave the volume either.
 */
export async function checkFolders(
  { source, destination }: Pick<Job, 'source' | 'destination'>,
  { bundleDir, private: kept }: WorkerFolders,
): Promise<void> {
  const volume = await real(bundleDir);
  const own = await Promise.all([...kept, path.join(bundleDir, serversFolder)].map(real));
  for (const endpoint of [source, destination]) {
    const named = folderOf(endpoint, bundleDir);
    if (named === undefined) continue;
    const folder = await real(named);
    const isBundle = endpoint.type === bundleType;
    if (own.some((each) => isWithin(each, folder))) throw refusal(endpoint, 'is reserved for the worker');
    if (isBundle && !isWithin(volume, folder))
      throw refusal(endpoint, 'is outside of the volume for bundles');
  }
}

function refusal({ name, remoteURL }: JobEndpoint, why: string): TransferError {
  const text = `remoteURL of Endpoint "${name}" is "${remoteURL.slice(0, 300)}", a folder that ${why}: choose another one.`;
  return new TransferError('config', text);
}

/** The folder that an Endpoint names; undefined for a server, and for an invalid path, which its kind rejects. */
function folderOf({ type, remoteURL }: JobEndpoint, bundleDir: string): string | undefined {
  if (!/^file:/i.test(remoteURL)) return undefined;
  try {
    const named = fileURLToPath(remoteURL);
    return type === bundleType ? path.join(bundleDir, named) : path.resolve(named);
  } catch {
    return undefined;
  }
}

/** The path without symbolic links; for a missing file, resolved from its nearest existing parent. */
async function real(file: string): Promise<string> {
  const absolute = path.resolve(file);
  try {
    return await realpath(absolute);
  } catch {
    const parent = path.dirname(absolute);
    return parent === absolute ? absolute : path.join(await real(parent), path.basename(absolute));
  }
}

function isWithin(folder: string, file: string): boolean {
  const rest = path.relative(folder, file);
  return rest === '' || !(rest === '..' || rest.startsWith(`..${path.sep}`));
}
