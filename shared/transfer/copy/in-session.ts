import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { TransferError } from '../errors/transfer-error.ts';
import { type Opening, openSession, type SessionOptions } from '../oci/session.ts';
import type { Counts, Progress, TellStep } from './copy-progress.ts';

/** What every run of a copy or comparison is started with. */
export interface RunOptions extends SessionOptions {
  signal: AbortSignal;
  /** Called with the bytes done, which never fall, and their total. */
  progress?: Progress;
  /** Told what a person would like to read in a log while it runs. */
  onStep?: TellStep;
  /** The folder for large blobs; the copy creates its own folder in it and removes it. */
  workDir: string;
  /** An artifact with more bytes than this is refused before any of its blobs is copied. */
  maxBytes?: number;
  /** True: every blob is looked for at the destination, and sent where it is lost, although the destination has the manifests that list it. */
  verify?: boolean;
}

/** How many manifests and blobs the destination had lost. */
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
  /** What the destination had lost of an artifact that it had, and got again; absent if nothing. */
  repaired?: Repaired;
  /** The first SBOMs by which a policy let it pass: what each describes, its type, and the blob that has it. */
  sboms?: readonly { subject: string; type: string; digest?: string }[];
  warnings: string[];
}

const maxWarnings = 20;
const maxWarningLength = 300;

/**
 * Runs one copy in a session and a folder of its own, and ends both with it. Rejects with a TransferError whose message contains no
 * credentials; nor do the warnings of the result.
 */
export async function inSession<Result extends { warnings: string[] }>(
  options: RunOptions,
  copy: (opening: Opening) => Promise<Result>,
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
 * The first warnings, each cut: an image can have thousands, and the result becomes part of a Workflow's status. Secrets are masked before
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
