import type { ContentSink } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import type { CopyPlan } from '../content/plan.ts';
import { putBlob } from '../content/put-blob.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { maxTagWrites, waitForConcurrentWriters } from '../oci/concurrent-writers.ts';
import { digestOf } from '../reference/digest.ts';
import { type AttachmentMerge, mergeAttachments } from './merge-attachments.ts';

/** An attachment of the source and its tag. */
export type Attachment = CopyPlan['tagged'][number];

export interface AttachmentTarget {
  destination: ContentSink;
  retry: RetryPolicy;
  warn: (text: string) => void;
  signal: AbortSignal;
}

/** Digests of the attachments that only their tags refer to: no other manifest of the plan lists them or refers to them. */
export function tagOnlyAttachments({ root, manifests, referrers, tagged }: CopyPlan): Set<string> {
  const listed = new Set([
    root.digest,
    ...referrers.map(({ manifest }) => manifest.digest),
    ...manifests.flatMap(({ children, subject = '' }) => [subject, ...children.map(({ digest }) => digest)]),
  ]);
  return new Set(tagged.map(({ manifest }) => manifest.digest).filter((digest) => !listed.has(digest)));
}

/** Decides what to write so that the destination's tag includes an attachment: nothing if it already does. */
export async function attachmentState(
  destination: ContentSink,
  { tag, manifest }: Attachment,
  signal: AbortSignal,
): Promise<AttachmentMerge> {
  const digest = await destination.head(tag, signal);
  if (digest === manifest.digest) return { action: 'keep' };
  const there = digest === undefined ? undefined : await readable(destination, tag, signal);
  if (there === 'unreadable')
    return { action: 'conflict', why: 'the tag names something that is not a readable manifest' };
  return there === undefined ? { action: 'put', manifest } : mergeAttachments(tag, there, manifest);
}

/**
 * Makes sure that a tag of the destination includes an attachment of the source beside those of others, such as a signature made at the
 * destination. Another client may write the tag concurrently, so the tag is read back until it includes the attachment. Rejects with a
 * TransferError.
 */
export async function ensureAttachment(attachment: Attachment, keeper: AttachmentTarget): Promise<void> {
  const { destination, retry, warn, signal } = keeper;
  const { tag, manifest } = attachment;
  for (let attempt = 0; attempt <= maxTagWrites; attempt += 1) {
    const started = performance.now();
    const state = await attachmentState(destination, attachment, signal);
    if (state.action === 'keep') return;
    if (state.action === 'conflict') {
      warn(
        `${manifest.digest} of the source was not added to tag ${tag}, which was left unchanged: ${state.why} (${destination.place})`,
      );
      return;
    }
    if (attempt === maxTagWrites) break;
    if (state.config) await putBlob(destination, configBlob(state.config), state.config, retry, signal);
    await destination.putManifest(tag, state.manifest, signal);
    // A layout has no concurrent writers.
    if (destination.registry !== undefined)
      await waitForConcurrentWriters(performance.now() - started, signal);
  }
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${destination.place} does not have ${manifest.digest} although it was just written to it: another client writes this tag, or the registry lost it.`,
  );
}

function configBlob(config: Buffer): Descriptor {
  return { mediaType: 'application/octet-stream', digest: digestOf(config), size: config.length };
}

/** The manifest under a tag that anybody may have written. */
async function readable(
  destination: ContentSink,
  tag: string,
  signal: AbortSignal,
): Promise<Manifest | 'unreadable' | undefined> {
  try {
    return await destination.manifest(tag, signal);
  } catch (caught) {
    if (caught instanceof TransferError && caught.reason === 'permanent') return 'unreadable';
    throw caught;
  }
}
