import type { FileIdentity, FileSource } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { finished, readFile } from '../files/read-file.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Opening } from '../oci/session.ts';
import { type FileEnds, lookAtEnds } from './copy-file.ts';
import { inSession, type RunOptions } from './in-session.ts';

/** One file at both ends. */
export interface FileComparison {
  /** At the source: in bytes, and `sha256:<hex>`. Each is absent where only reading the file would tell. */
  size?: number;
  digest?: string;
  /** True if the destination has the file. */
  there: boolean;
  warnings: string[];
}

/** Says what `copyFile` would do, and reads no content where that does not. Rejects with a TransferError. */
export function planFile(
  options: RunOptions,
  open: (opening: Opening) => Promise<FileEnds>,
): Promise<FileComparison> {
  return inSession(options, async (opening) => {
    const { info, expected, present } = await lookAtEnds(options, await open(opening), opening);
    const [size, digest] = [present?.size ?? info.size, present?.digest ?? expected];
    return {
      ...(size !== undefined && { size }),
      ...(digest !== undefined && { digest }),
      there: present !== undefined,
      warnings: [],
    };
  });
}

/** Compares the content of both ends: each is read, unless its server has proof of the digest. Rejects with a TransferError. */
export function verifyFile(
  options: RunOptions,
  open: (opening: Opening) => Promise<FileEnds>,
): Promise<FileComparison> {
  return inSession(options, async (opening) => {
    const { signal } = opening;
    const { retry } = opening.session;
    const { source, destination, expected } = await open(opening);
    const wanted = await identityOf(source, expected, retry, signal);
    const found = await identityOf(destination.written, undefined, retry, signal).catch(unlessMissing);
    return { ...wanted, there: found?.digest === wanted.digest, warnings: [] };
  });
}

/** A file that is not there, or that its server does not send as it announces it, is no copy. */
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
  return finished(readFile({ source, size, expected, maxBytes: Number.MAX_SAFE_INTEGER, retry }, signal));
}
