import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { TransferError } from '../errors/transfer-error.ts';
import { openSession, type SessionOptions, type TransferContext } from '../oci/session.ts';
import type { Counts, Progress, ReportStep } from './copy-progress.ts';

/** Options of every copy or comparison. */
export interface RunOptions extends SessionOptions {
  signal: AbortSignal;
  /** Called with the bytes sent, which never decrease, and their total. */
  progress?: Progress;
  /** Called with short descriptions of each step, for a log that people follow. */
  onStep?: ReportStep;
  /** The folder for large blobs; the copy creates its own folder in it and removes it. */
  workDir: string;
  /** An artifact with more bytes than this is refused before any of its blobs is copied. */
  maxBytes?: number;
  /** True: every blob is looked up at the destination, and sent again if it is lost, even if the destination has its manifest. */
  verify?: boolean;
  /** True: a registry as the destination verifies large blobs alone; a copy to one that does not report their digests fails. */
  unhashed?: boolean;
}

/** Manifests and blobs that the destination had lost and that were sent again. */
export interface Repaired {
  manifests: number;
  blobs: number;
}

/** The result of a copy. `bytes` and `blobs` count each distinct blob once. */
export interface CopyResult {
  /** Digest and media type of the image or file, equal at both ends. */
  digest: string;
  mediaType: string;
  bytes: Counts;
  blobs: Counts;
  /** Number of signatures, SBOMs and attestations copied. */
  referrers: number;
  /** Content that the destination had lost; absent if nothing was repaired. */
  repaired?: Repaired;
  /** The first SBOMs by which the artifact passed the policy: subject, type, and the digest of the blob with the SBOM. */
  sboms?: readonly { subject: string; type: string; digest?: string }[];
  warnings: string[];
}

const maxWarnings = 20;
const maxWarningLength = 300;

/**
 * Runs one copy in a session and a temporary folder of its own, and closes both. Rejects with a TransferError. Neither its message nor the
 * warnings of the result contain credentials.
 */
export async function inSession<Result extends { warnings: string[] }>(
  options: RunOptions,
  copy: (context: TransferContext) => Promise<Result>,
): Promise<Result> {
  const { signal, workDir } = options;
  const session = openSession(options);
  let folder: string | undefined;
  try {
    folder = await temporaryFolder(workDir);
    const result = await copy({ session, folder, signal });
    return { ...result, warnings: bounded(result.warnings, (warning) => session.masker.apply(warning)) };
  } catch (caught) {
    throw session.explain(caught, signal);
  } finally {
    session.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The first warnings, truncated: an image can have thousands, and the result becomes part of a Workflow's status. Secrets are masked before
 * the cut, because half a secret would not be recognised.
 */
function bounded(warnings: readonly string[], mask: (warning: string) => string): string[] {
  const first = warnings.slice(0, maxWarnings).map((warning) => mask(warning).slice(0, maxWarningLength));
  const left = warnings.length - first.length;
  return left > 0 ? [...first, `and ${left} more`] : first;
}

async function temporaryFolder(workDir: string): Promise<string> {
  try {
    await mkdir(workDir, { recursive: true });
    return await mkdtemp(path.join(workDir, 'blobs-'));
  } catch (caught) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError(
      'retryable',
      `Cannot use the temporary folder: ${detail}; check the volume of ARC_WORK_DIR.`,
      { cause: caught, again: false },
    );
  }
}
