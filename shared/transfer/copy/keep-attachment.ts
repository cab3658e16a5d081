import type { ContentSink } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import type { CopyPlan } from '../content/plan.ts';
import { putBlob } from '../content/put-blob.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { mostTagWrites, outlastWriters } from '../oci/outlast-writers.ts';
import { digestOf } from '../reference/digest.ts';
import { type AttachmentMerge, mergeAttachments } from './merge-attachments.ts';

/** An attachment of the source, and its tag. */
export type Attachment = CopyPlan['tagged'][number];

export interface AttachmentKeeper {
  destination: ContentSink;
  retry: RetryPolicy;
  warn: (text: string) => void;
  signal: AbortSignal;
}

/** Digests of the attachments that are stored under their tags alone: nothing else of the plan lists or needs them. */
export function taggedAlone({ root, manifests, referrers, tagged }: CopyPlan): Set<string> {
  const listed = new Set([
    root.digest,
    ...referrers.map(({ manifest }) => manifest.digest),
    ...manifests.flatMap(({ children, subject = '' }) => [subject, ...children.map(({ digest }) => digest)]),
  ]);
  return new Set(tagged.map(({ manifest }) => manifest.digest).filter((digest) => !listed.has(digest)));
}

/** What the destination lacks of an attachment: nothing where its tag has the same, or all of it and more. */
export async function attachmentState(
  destination: ContentSink,
  { tag, manifest }: Attachment,
  signal: AbortSignal,
): Promise<AttachmentMerge> {
  const digest = await destination.head(tag, signal);
  if (digest === manifest.digest) return { action: 'keep' };
  const there = digest === undefined ? undefined : await readable(destination, tag, signal);
  if (there === 'unreadable')
    return { action: 'conflict', why: 'what is there is no manifest that can be read' };
  return there === undefined ? { action: 'put', manifest } : mergeAttachments(tag, there, manifest);
}

/**
 * Sees to it that a tag of the destination has the attachment of the source beside what others put there, such as a signature that was made at
 * the destination. Another client may write the tag at once, so it is read back until it has the attachment. Rejects with a TransferError.
 */
export async function keepAttachment(attachment: Attachment, keeper: AttachmentKeeper): Promise<void> {
  const { destination, retry, warn, signal } = keeper;
  const { tag, manifest } = attachment;
  for (let attempt = 0; attempt <= mostTagWrites; attempt += 1) {
    const started = performance.now();
    const state = await attachmentState(destination, attachment, signal);
    if (state.action === 'keep') return;
    if (state.action === 'conflict') {
      warn(
        `${manifest.digest} of the source is not under tag ${tag}, which keeps what is there: ${state.why} (${destination.place})`,
      );
      return;
    }
    if (attempt === mostTagWrites) break;
    if (state.config) await putBlob(destination, configBlob(state.config), state.config, retry, signal);
    await destination.putManifest(tag, state.manifest, signal);
    // Nobody else writes a layout.
    if (destination.registry !== undefined) await outlastWriters(performance.now() - started, signal);
  }
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${destination.place} does not have ${manifest.digest} although it was just written to it: another client writes this tag, or the registry lost it.`,
  );
}

function configBlob(config: Buffer): Descriptor {
  return { mediaType: 'application/octet-stream', digest: digestOf(config), size: config.length };
}

/** Anybody may have put anything under the tag. */
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
