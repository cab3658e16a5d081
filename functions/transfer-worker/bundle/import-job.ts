import { createPublicKey, type KeyObject } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { createBackoff, pause } from '#shared/base/async';
import type { Job } from '#shared/domain';
import {
  type BatchResult,
  type Bundles,
  batchFailure,
  batchItems,
  type Counts,
  type ImportedItem,
  type ItemResult,
  loadBundles,
  type Receipt,
  sumCounts,
  TransferError,
  throwIfAborted,
} from '#shared/transfer';
import { withPolicy } from '../job/policy.ts';
import { bundleDestination } from './bundle-destination.ts';
import { required, signKeyOf, trustKeysOf } from './bundle-keys.ts';
import { type BundleOptions, type BundlePlace, fetchSigned } from './bundle-place.ts';
import { bundleName, wantedDigest } from './bundle-spec.ts';
import { lockFile } from './lock-file.ts';
import { openPlace } from './open-place.ts';
import { phases } from './phases.ts';

const mediaType = 'application/vnd.arc.bundle.v1+tar';

/**
 * Verifies the whole bundle `spec.name` of the source, imports its artifacts into the destination under their own names, and writes a receipt
 * beside the bundle. Rejects with a TransferError, whose message says if nothing was sent.
 */
export async function importJob(job: Job, options: BundleOptions): Promise<BatchResult> {
  const bundles = await loadBundles();
  const { artifact, source, destination } = job;
  const { signal, maxBytes } = options;
  const name = bundleName(artifact.spec.name, 'name');
  const digest = wantedDigest(artifact.spec);
  const keys = required(trustKeysOf(source), source, 'public key trust.pub of the exporting side');
  const signKey = signKeyOf(source);
  const place = await openPlace(source, `import ${name} to ${destination.remoteURL}`, options);
  const refusal = new TransferError(
    'permanent',
    `${name}.arc-bundle.json in ${place.label} is not signed by a key of trust.pub of Endpoint "${source.name}", so no part was fetched: bring the bundle again with its .sig, or correct trust.pub or remoteURL.`,
  );
  const file = await arrived(place, { name, keys, refusal, bundles, maxBytes }).catch(anew);
  let report = phases(options.progress, 2);
  const bundle = await bundles
    .readBundle({
      name: file,
      keys,
      expected: { name, ...(digest && { digest }), ...(maxBytes && { maxBytes }) },
      progress: (done, total) => report?.(done, total),
      signal,
    })
    .catch(anew);
  report = phases(options.progress, 1 + bundle.record.items.length);
  report?.(1, 1);
  const landing = bundleDestination({ artifact: { ...artifact, spec: {} }, destination });
  const { items, warnings } = await bundles.importBundle(bundle, landing, {
    ...withPolicy(job, options),
    ...(report && { progress: report }),
  });
  const told = bundles.receiptOf(bundle, destination.remoteURL, items, new Date());
  try {
    await leaveReceipt(place, `${name}.receipt.json`, { told, signKey, bundles, signal });
  } catch (caught) {
    // A read-only medium: the import itself has succeeded.
    if (!(caught instanceof TransferError)) throw caught;
    warnings.unshift(`no receipt was written: ${caught.message}`);
  }
  throwIfAborted(signal);
  const results = items.map(resultOf);
  const failure = batchFailure(results);
  if (failure) throw failure;
  await place.tidy();
  return {
    digest: bundle.digest,
    mediaType,
    bytes: sumCounts(items.map(({ bytes = none }) => bytes)),
    blobs: sumCounts(items.map(({ blobs = none }) => blobs)),
    referrers: items.reduce((sum, { referrers = 0 }) => sum + referrers, 0),
    warnings: warnings.slice(0, 20),
    items: batchItems(results),
  };

  /** Discards a corrupt download, so that the next attempt fetches it again. */
  async function anew(caught: unknown): Promise<never> {
    // Somebody may still be copying it: retryable, so that a waiting Order gets the complete bundle.
    if (caught instanceof bundles.IncompleteBundle && !place.onServer)
      throw new TransferError('retryable', caught.message, { cause: caught, again: false });
    if (caught instanceof TransferError && caught.reason === 'permanent') await place.tidy();
    throw caught;
  }
}

/** How often a receipt is written while concurrent imports of the same bundle overwrite it. */
const maxReceiptWrites = 30;

interface Leaving {
  signal: AbortSignal;
  told: Receipt;
  signKey: KeyObject | undefined;
  bundles: Bundles;
}

/**
 * Writes the receipt and its signature, merged with the receipts of imports to other destinations. In a folder a lock serialises the writers.
 * Rejects with a TransferError.
 */
async function leaveReceipt(place: BundlePlace, receipt: string, leaving: Leaving): Promise<void> {
  if (place.onServer || leaving.signKey === undefined) return joinReceipt(place, receipt, leaving);
  await using _lock = await lockFile(path.join(place.folder, `${receipt}.lock`), leaving.signal);
  await joinReceipt(place, receipt, leaving);
}

/**
 * Writes until the receipt includes this import: concurrent writers to a server may overwrite each other's receipt, or mix it with the signature
 * of another one.
 */
async function joinReceipt(
  place: BundlePlace,
  receipt: string,
  { told, signKey, bundles, signal }: Leaving,
): Promise<void> {
  const signature = `${receipt}.sig`;
  const backoff = createBackoff({ baseMs: 50, maxMs: 1000, random: Math.random });
  for (let count = 1; ; count += 1) {
    const before = signKey && (await present(signKey));
    const joined = before instanceof TransferError ? told : bundles.mergedReceipt(told, before);
    await bundles.saveReceipt(path.join(place.folder, receipt), joined, signKey);
    for (const each of [...(signKey ? [signature] : []), receipt]) await place.store(each);
    if (signKey === undefined) return;
    const after = await present(signKey);
    // An unreadable location cannot be checked.
    if (after instanceof TransferError || (after && bundles.includesImport(after, told))) return;
    if (count === maxReceiptWrites)
      throw new TransferError(
        'retryable',
        `other imports of the bundle have overwritten ${receipt} in ${place.label} ${maxReceiptWrites} times`,
      );
    await pause(backoff.next(), signal);
    throwIfAborted(signal);
  }

  /** The existing receipt; undefined if there is no valid one, a TransferError if it cannot be read. */
  async function present(key: KeyObject): Promise<Receipt | TransferError | undefined> {
    const mixed = new TransferError(
      'retryable',
      'The receipt and its signature belong to different imports.',
    );
    try {
      const bytes = await fetchSigned(place, receipt, [createPublicKey(key)], bundles, mixed);
      return bytes && bundles.parseReceipt(bytes, receipt);
    } catch (caught) {
      if (!(caught instanceof TransferError)) throw caught;
      return caught === mixed ? undefined : caught;
    }
  }
}

const none: Counts = { copied: 0, existed: 0, mounted: 0 };

function resultOf({ name, digest, outcome, written, reason, message = '' }: ImportedItem): ItemResult {
  if (outcome !== 'imported')
    return { source: name, target: name, outcome: 'failed', ...(reason && { reason }), message };
  return { source: name, target: name, digest, outcome: written ? 'copied' : 'unchanged' };
}

interface Wanted {
  name: string;
  keys: Parameters<typeof fetchSigned>[2];
  refusal: TransferError;
  bundles: Bundles;
  maxBytes: number | undefined;
}

/** Fetches a bundle and returns its file name. Parts are fetched only with a signed record, because some servers answer 200 to everything. */
async function arrived(
  place: BundlePlace,
  { name, keys, refusal, bundles, maxBytes = Number.POSITIVE_INFINITY }: Wanted,
): Promise<string> {
  const { partName, partsOfFile, recordFileOf } = bundles;
  const file = path.join(place.fetched, `${name}.tar`);
  const record = path.basename(recordFileOf(file));
  const isWhole = !place.onServer || (await fetchSigned(place, record, keys, bundles, refusal)) !== undefined;
  let first = 1;
  // Stops at the limit, so that the volume does not fill up.
  for (let number = 1, bytes = 0; isWhole && bytes <= maxBytes; number += 1) {
    const part = partName(file, number);
    if (!(await place.fetch(path.basename(part)))) break;
    const { size } = await stat(part);
    bytes += size;
    if (number === 1) first = Math.max(size, 1);
    // The last part.
    if (size < first) break;
  }
  const parts = isWhole ? await partsOfFile(file) : [];
  if (parts.length > 0) return file;
  throw new TransferError(
    'retryable',
    `The bundle "${name}" is not in ${place.label}: bring ${name}.tar.001 and its further parts, or correct spec.name.`,
    { again: false },
  );
}
