import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Manifest } from '../oci/manifest.ts';
import { openSession, type Session, type SessionOptions } from '../oci/session.ts';
import { copyContent } from './copy-content.ts';
import { type Counts, createCopyProgress, type Progress } from './copy-progress.ts';
import { planCopy } from './plan.ts';

/** What both ends of a copy are opened with. */
export interface Opening {
  /** Connections, limits and masked secrets that both ends share. */
  session: Session;
  /** A folder for large files on their way; the copy removes it. */
  folder: string;
  signal: AbortSignal;
}

/** The two ends of a copy. */
export interface Ends {
  source: ContentSource;
  destination: ContentSink;
}

export interface CopyOptions extends SessionOptions {
  signal: AbortSignal;
  /** Called with the bytes done, which never fall, and their total. */
  progress?: Progress;
  /** The folder for large blobs; the copy creates its own folder in it and removes it. */
  workDir: string;
  /** An artifact with more bytes than this is refused before any of its blobs is copied. */
  maxBytes?: number;
}

/** The result of a copy. `bytes` and `blobs` count each distinct blob once. */
export interface CopyResult {
  /** Digest and media type of the image, equal at both ends. */
  digest: string;
  mediaType: string;
  bytes: Counts;
  blobs: Counts;
  /** Number of signatures, SBOMs and attestations copied. */
  referrers: number;
  warnings: string[];
}

const maxWarnings = 20;
const maxWarningLength = 300;

/**
 * Copies one artifact by digest, with all platforms and referrers. It resolves the tag once, copies manifests unchanged and blobs before
 * the manifests that list them, and writes the tag last. It is safe to repeat. Rejects with a TransferError whose message contains no
 * credentials.
 */
export async function copyArtifact(
  options: CopyOptions,
  open: (opening: Opening) => Promise<Ends>,
): Promise<CopyResult> {
  const { signal, workDir } = options;
  const session = openSession(options);
  let folder: string | undefined;
  try {
    folder = await temporaryFolder(workDir);
    const { source, destination } = await open({ session, folder, signal });
    // Asked while the source is read. If both fail, the failure of the source is reported.
    const looking = destination.tag === undefined ? undefined : destination.head(destination.tag, signal);
    looking?.catch(() => undefined);
    const plan = await planCopy(source, signal);
    const before = await looking;
    checkDigest(destination, plan.root);
    const total =
      sum(plan.blobs.map(({ size }) => size)) + sum(plan.manifests.map(({ bytes }) => bytes.length));
    if (total > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(source, total);
    const copyProgress = createCopyProgress(total, options.progress);
    const { retry } = session;
    await copyContent({ plan, source, destination, before, retry, folder, copyProgress, signal });
    const { blobs, bytes } = copyProgress;
    const { root, referrers, tagged, warnings } = plan;
    return {
      digest: root.digest,
      mediaType: root.mediaType,
      bytes,
      blobs,
      referrers: referrers.length + tagged.length,
      warnings: bounded(warnings, (warning) => session.masker.apply(warning)),
    };
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

function tooLarge({ place }: ContentSource, bytes: number): TransferError {
  return new TransferError(
    'permanent',
    `The artifact of ${place} takes ${bytes} bytes, more than this worker moves: raise ARC_MAX_BYTES, and the sizeLimit of the volume, in the workflow template.`,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
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
      {
        cause: caught,
        again: false,
      },
    );
  }
}

/** A destination with a digest accepts that digest only. */
function checkDigest({ digest }: ContentSink, root: Manifest): void {
  if (digest === undefined || digest === root.digest) return;
  throw new TransferError(
    'config',
    `The destination requires ${digest}, but the source has ${root.digest}: remove or correct the digest.`,
  );
}
