import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { JobEndpoint } from '#shared/domain';
import {
  copyFile,
  type FileLocation,
  type FileSink,
  type FileSource,
  inSession,
  isAwsStorage,
  localSink,
  localSource,
  openS3Sink,
  openS3Source,
  openWebSink,
  openWebSource,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { connection } from '../ends/endpoint-kind.ts';
import type { BundleOptions, BundlePlace } from './bundle-place.ts';
import { config } from './bundle-spec.ts';

/** Staging folder for servers, in the volume for bundles. */
export const serversFolder = '.servers';

/** True for an Endpoint whose bundles are on a server. */
export function isServer({ remoteURL }: JobEndpoint): boolean {
  return /^(?:https?|s3):\/\//i.test(remoteURL);
}

/**
 * Opens the bundles on a server: on S3 if the Secret has keys or the host is an AWS storage, else on a server with PUT, such as WebDAV. Files are
 * staged in a folder of the volume, one for each `use`, from which a killed job resumes. Rejects with a TransferError.
 */
export async function serverPlace(
  endpoint: JobEndpoint,
  use: string,
  { bundleDir, progress: _, ...options }: BundleOptions,
): Promise<BundlePlace> {
  const id = createHash('sha256')
    .update(JSON.stringify([endpoint.remoteURL, use]))
    .digest('hex');
  const folder = path.join(bundleDir, serversFolder, id.slice(0, 32));
  const fetched = path.join(folder, 'fetched');
  await mkdir(fetched, { recursive: true }).catch((caught: Error) => {
    throw config(
      `The volume for bundles cannot be used: ${caught.message}. It must be mounted at ${bundleDir} (ARC_BUNDLE_DIR), because files are staged there.`,
      caught,
    );
  });
  const kind = kindOf(endpoint);
  const at = (name: string): FileLocation => ({ ...connection(endpoint), path: name });
  return {
    folder,
    fetched,
    label: labelOf(endpoint),
    onServer: true,

    async fetch(name, most = options.maxBytes) {
      try {
        await copyFile({ ...options, ...(most !== undefined && { maxBytes: most }) }, async (context) => {
          const source = kind.source(at(name), context);
          await mustExist(source, context.signal);
          return { source, destination: localSink(path.join(fetched, name)), name };
        });
        return true;
      } catch (caught) {
        if (caught instanceof Absent) return false;
        throw caught;
      }
    },

    async size(name) {
      const { size } = await inSession(options, async (context) => ({
        size: await sizeOf(kind.source(at(name), context), context.signal),
        warnings: [],
      }));
      return size;
    },

    async store(name, progress) {
      await copyFile({ ...options, ...(progress && { progress }) }, async (context) => ({
        source: localSource(path.join(folder, name)),
        destination: kind.sink(at(name), context),
        name,
      }));
    },

    tidy: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Opens files on one kind of server. */
interface Kind {
  source: (location: FileLocation, context: TransferContext) => FileSource;
  sink: (location: FileLocation, context: TransferContext) => FileSink;
}

const s3: Kind = {
  source: (location, { session }) => openS3Source(location, session),
  sink: (location, { session }) => openS3Sink(location, session),
};
/** Files need no temporary names, because the record that marks a bundle as complete comes last. */
const web: Kind = {
  source: (location, { session }) => openWebSource(location, session),
  sink: (location, { session }) => openWebSink(location, session, false),
};

function kindOf({ remoteURL, credentials }: JobEndpoint): Kind {
  const hasKeys = credentials !== undefined && 'accessKeyID' in credentials;
  return hasKeys || isAwsStorage(remoteURL) ? s3 : web;
}

/** The URL without its query, which may contain a secret. */
function labelOf({ remoteURL }: JobEndpoint): string {
  return remoteURL.replace(/[?#].*$/s, '');
}

/** The file does not exist: a failure for a copy, but a regular result here. */
class Absent extends Error {}

async function sizeOf(source: FileSource, signal: AbortSignal): Promise<number | 'unknown' | undefined> {
  try {
    await mustExist(source, signal);
    return (await source.stat(signal)).size ?? 'unknown';
  } catch (caught) {
    if (caught instanceof Absent) return undefined;
    throw caught;
  }
}

async function mustExist(source: FileSource, signal: AbortSignal): Promise<void> {
  const { size, validator } = await source.stat(signal);
  if (size !== undefined || validator !== undefined) return;
  // A server that reports nothing about a file may not support HEAD.
  const opened = await source.open(0, undefined, signal).catch((caught: unknown) => {
    if (caught instanceof TransferError && caught.reason === 'permanent') throw new Absent();
    throw caught;
  });
  opened.stream.destroy();
}
