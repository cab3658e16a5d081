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

/** In the volume for bundles: files on their way from and to servers. */
export const serversFolder = '.servers';

/** True for an Endpoint whose bundles lie on a server. */
export function isServer({ remoteURL }: JobEndpoint): boolean {
  return /^(?:https?|s3):\/\//i.test(remoteURL);
}

/**
 * The bundles on a server: in an S3 storage where the Secret has keys for one or the host is one of AWS, else of a server that takes PUT, as WebDAV does. Their files are in a folder of
 * the volume meanwhile, one for each `use`: a job that was killed goes on with what is there and what has been sent. Rejects with a TransferError.
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
      `The volume for bundles cannot be used: ${caught.message}. It must be mounted at ${bundleDir} (ARC_BUNDLE_DIR), as files are there on their way.`,
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

/** How one kind of server is opened. */
interface Kind {
  source: (location: FileLocation, context: TransferContext) => FileSource;
  sink: (location: FileLocation, context: TransferContext) => FileSink;
}

const s3: Kind = {
  source: (location, { session }) => openS3Source(location, session),
  sink: (location, { session }) => openS3Sink(location, session),
};
/** Files need no temporary names: the record, which says that a bundle is there, comes last. */
const web: Kind = {
  source: (location, { session }) => openWebSource(location, session),
  sink: (location, { session }) => openWebSink(location, session, false),
};

function kindOf({ remoteURL, credentials }: JobEndpoint): Kind {
  const hasKeys = credentials !== undefined && 'accessKeyID' in credentials;
  return hasKeys || isAwsStorage(remoteURL) ? s3 : web;
}

/** Without a query, which can be a secret. */
function labelOf({ remoteURL }: JobEndpoint): string {
  return remoteURL.replace(/[?#].*$/s, '');
}

/** That there is no such file. It is known to this room alone: for a copy it is a failure, here an answer. */
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
  // A server that tells nothing of a file it has is one that may not be asked so.
  const opened = await source.open(0, undefined, signal).catch((caught: unknown) => {
    if (caught instanceof TransferError && caught.reason === 'permanent') throw new Absent();
    throw caught;
  });
  opened.stream.destroy();
}
