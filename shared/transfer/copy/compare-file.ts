import type { FileIdentity, FileSource } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { drain, readFile } from '../files/read-file.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { TransferContext } from '../oci/session.ts';
import { type FileEnds, inspectEnds } from './copy-file.ts';
import { inSession, type RunOptions } from './in-session.ts';

/** Compares one file at both ends. */
export interface FileComparison {
  /** Size in bytes and digest (`sha256:<hex>`) at the source; absent if they are unknown without reading the file. */
  size?: number;
  digest?: string;
  /** True if the destination has the file. */
  there: boolean;
  warnings: string[];
}

/** Predicts what `copyFile` would do. Content is read only where `copyFile` would read it to decide. Rejects with a TransferError. */
export function planFile(
  options: RunOptions,
  open: (context: TransferContext) => Promise<FileEnds>,
): Promise<FileComparison> {
  return inSession(options, async (context) => {
    const { info, expected, present } = await inspectEnds(options, await open(context), context);
    const [size, digest] = [present?.size ?? info.size, present?.digest ?? expected];
    return {
      ...(size !== undefined && { size }),
      ...(digest !== undefined && { digest }),
      there: present !== undefined,
      warnings: [],
    };
  });
}

/** Compares the content of both ends. An end is read unless its server has computed the digest. Rejects with a TransferError. */
export function verifyFile(
  options: RunOptions,
  open: (context: TransferContext) => Promise<FileEnds>,
): Promise<FileComparison> {
  return inSession(options, async (context) => {
    const { signal } = context;
    const { retry } = context.session;
    const { source, destination, expected } = await open(context);
    const wanted = await identityOf(source, expected, retry, signal);
    const found = await identityOf(destination.readBack, undefined, retry, signal).catch(unlessMissing);
    return { ...wanted, there: found?.digest === wanted.digest, warnings: [] };
  });
}

/** Treats a missing or corrupt file as absent. */
function unlessMissing(caught: unknown): undefined {
  if (!(caught instanceof TransferError) || caught.reason !== 'permanent') throw caught;
}

async function identityOf(
  source: FileSource,
  expected: string | undefined,
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<FileIdentity> {
  const { size, digest, proven } = await source.stat(signal);
  const isProven = proven === true && size !== undefined && digest !== undefined;
  if (isProven && (expected === undefined || digest === expected)) return { size, digest };
  return drain(readFile({ source, size, expected, maxBytes: Number.MAX_SAFE_INTEGER, retry }, signal));
}
