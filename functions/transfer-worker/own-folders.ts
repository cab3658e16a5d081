import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleType, type Job, type JobEndpoint } from '#shared/domain';
import { TransferError } from '#shared/transfer';
import { serversFolder } from './bundle/server-place.ts';

/** Where the worker keeps what is nobody else's business. */
export interface WorkerFolders {
  /** The volume for bundles, of which Endpoints name folders. */
  bundleDir: string;
  /** Configuration, credentials, unfinished files, and what a scanner is to judge. */
  private: readonly string[];
}

/**
 * Rejects with a config TransferError if an Endpoint of the job is a folder that is one of the worker's own, or lies in one, by whatever
 * name: with `..`, escaped, or through a link. A bundle's folder does not lead out of the volume either.
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
    if (own.some((one) => isWithin(one, folder))) throw refusal(endpoint, 'is for the worker alone');
    if (isBundle && !isWithin(volume, folder)) throw refusal(endpoint, 'leads out of the volume for bundles');
  }
}

function refusal({ name, remoteURL }: JobEndpoint, why: string): TransferError {
  const text = `remoteURL of Endpoint "${name}" is "${remoteURL.slice(0, 300)}", a folder that ${why}: name another one.`;
  return new TransferError('config', text);
}

/** The folder that an Endpoint names; undefined for a server, and for what no folder can be called, which its own kind refuses. */
function folderOf({ type, remoteURL }: JobEndpoint, bundleDir: string): string | undefined {
  if (!/^file:/i.test(remoteURL)) return undefined;
  try {
    const named = fileURLToPath(remoteURL);
    return type === bundleType ? path.join(bundleDir, named) : path.resolve(named);
  } catch {
    return undefined;
  }
}

/** The path without links; of what is not there yet, that of the folder in which it would be made. */
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
