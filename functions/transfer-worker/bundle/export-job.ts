import { createPublicKey } from 'node:crypto';
import { mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '#shared/base/meta';
import { type Job, policyTexts } from '#shared/domain';
import {
  type BatchResult,
  type BundleRecord,
  type Bundles,
  batchItems,
  type ItemResult,
  inSession,
  loadBundles,
  TransferError,
  throwIfAborted,
} from '#shared/transfer';
import { withPolicy } from '../job/policy.ts';
import { required, signKeyOf, trustKeysOf } from './bundle-keys.ts';
import { type BundleOptions, type BundlePlace, fetchSigned, readSigned, removeAll } from './bundle-place.ts';
import { bundleName, type Content, config, contentsOf, textOf } from './bundle-spec.ts';
import { hasParts, mustBeCurrent } from './check-bundle.ts';
import { expandContents } from './expand-contents.ts';
import { openPlace } from './open-place.ts';
import { phases } from './phases.ts';

/** Below the file size limit of FAT32. */
const usualPart = '4GB';
const mediaType = 'application/vnd.arc.bundle.v1+tar';

/**
 * Writes `spec.contents` as the signed bundle `spec.name` to the destination. Bundles are immutable: an existing bundle with the same contents
 * is left alone, and any other is an error. Rejects with a TransferError.
 */
export async function exportJob(job: Job, options: BundleOptions): Promise<BatchResult> {
  const bundles = await loadBundles();
  const { artifact, destination } = job;
  const name = bundleName(artifact.spec.name, 'name');
  const contents = contentsOf(artifact.spec);
  const partSize = bundles.partSizeOf(textOf(artifact.spec, 'partSize') ?? usualPart, 'spec.partSize');
  const signKey = required(signKeyOf(destination), destination, 'private key sign.key');
  const policed = withPolicy(job, options);
  const place = await openPlace(destination, `export ${name}`, options);
  const file = path.join(place.folder, `${name}.tar`);
  const keys = [createPublicKey(signKey)];
  const record = path.basename(bundles.recordFileOf(file));
  const known = { bundles, contents, name, policy: job.policy };
  const refusal = foreign(name, job);
  const there = await fetchSigned(place, record, keys, bundles, refusal);
  let progress = phases(options.progress, 1);
  const result = there ? await found(there) : await make();
  await place.tidy();
  return result;

  /** Returns the existing bundle, after rebuilding it if parts are missing. */
  async function found(bytes: Buffer): Promise<BatchResult> {
    const result = resultOfRecord(bytes, known, 'unchanged');
    const { size: signatureLength } = await stat(path.join(place.fetched, `${record}.sig`));
    const written = {
      record: bundles.parseRecord(bytes, record),
      recordLength: bytes.length,
      signatureLength,
    };
    if (!(await hasParts(place, written, partSize, bundles))) return makeAgain(written.record, result.digest);
    await mustBeCurrent(job, contents, written, options, bundles);
    return result;
  }

  async function make(): Promise<BatchResult> {
    // Staged for a server by an export that was killed after making it.
    const made = await readSigned(place.folder, record, keys, bundles, refusal);
    const ready = made && resultOfRecord(made, known, 'copied');
    const result = ready && (await isWhole(ready.digest)) ? ready : await write(place.folder);
    await publish();
    return result;
  }

  /** Rebuilds a bundle of which only the record exists. It must be identical, because others know it by its digest. */
  async function makeAgain(before: BundleRecord, digest: string | undefined): Promise<BatchResult> {
    // Built beside the remaining files of a folder, until those can be replaced.
    const beside = path.join(place.folder, `${name}.again`);
    const folder = place.onServer ? place.folder : beside;
    await mkdir(folder, { recursive: true });
    const made = await write(folder, before);
    if (made.digest !== digest) {
      await removeAll([beside]);
      await place.tidy();
      throw config(
        `Parts of the bundle "${name}" are missing in ${place.label}, and it cannot be rebuilt identically, because its source or referrers have changed since. Restore its parts, or choose another spec.name.`,
      );
    }
    if (place.onServer) await publish();
    else {
      await removeAll(await bundles.partsOfFile(file));
      for (const part of await bundles.partsOfFile(path.join(beside, `${name}.tar`)))
        await rename(part, path.join(place.folder, path.basename(part)));
      await removeAll([beside]);
    }
    return made;
  }

  async function publish(): Promise<void> {
    const parts = (await bundles.partsOfFile(file)).map((part) => path.basename(part));
    // The record comes last: it marks the bundle as complete.
    for (const each of [...parts, `${record}.sig`, record]) await place.store(each, progress);
  }

  /** Verifies a staged bundle before it is sent: the record alone does not prove its parts. */
  async function isWhole(digest: string | undefined): Promise<boolean> {
    try {
      await bundles.readBundle({
        name: file,
        keys,
        expected: { name, ...(digest && { digest }) },
        signal: options.signal,
      });
      return true;
    } catch (caught) {
      throwIfAborted(options.signal);
      if (caught instanceof TransferError) return false;
      throw caught;
    }
  }

  /** Writes the bundle into a folder; with `before` as a rebuild. */
  async function write(folder: string, before?: BundleRecord): Promise<BatchResult> {
    const since = await baseOf({ job, place, keys, bundles });
    const target = path.join(folder, path.basename(file));
    // Leftovers of a killed export. Its folder of blobs stays, and is resumed.
    const stale = path.join(folder, record);
    await removeAll([...(await bundles.partsOfFile(target)), stale, `${stale}.sig`]);
    const policyText = before === undefined ? job.policy : before.policy;
    const made = await inSession(options, async (context) => {
      const { items, warnings } = await expandContents(job, contents, context, {
        maxBytes: options.maxBytes,
      });
      progress = phases(options.progress, items.length + (place.onServer ? 2 : 1));
      const exported = await bundles.exportBundle(items, {
        ...policed,
        ...(progress && { progress }),
        ...(policyText !== undefined && { policyText }),
        ...(since && { since }),
        file: target,
        partSize,
        signKey,
        now: before === undefined ? new Date() : new Date(before.created),
      });
      return { ...exported, warnings: [...warnings, ...exported.warnings] };
    });
    return resultOf(made.record.items, made, 'copied');
  }
}

interface Known {
  contents: readonly Content[];
  name: string;
  bundles: Bundles;
  /** The current policy, as JSON. */
  policy: string | undefined;
}

/** The result of an existing bundle, which must have the ordered contents and policy. */
function resultOfRecord(
  bytes: Buffer,
  { contents, name, bundles, policy }: Known,
  outcome: 'copied' | 'unchanged',
): BatchResult {
  const made = recordOf(bytes, name, bundles);
  const { items, blobs } = made;
  // One entry of the contents may have several artifacts.
  const asked = [...new Set(items.map((item) => item.asked))];
  const isSame =
    asked.length === contents.length && asked.every((text, index) => text === contents[index]?.text);
  if (!isSame)
    throw config(
      `The bundle "${name}" already exists with other contents, and a bundle is immutable: choose another spec.name.`,
    );
  if (!isDeepStrictEqual(demandsOf(made.policy), demandsOf(policy)))
    throw config(
      `The bundle "${name}" already exists under another policy, and a bundle is immutable: choose another spec.name.`,
    );
  const total = blobs.reduce((sum, { size }) => sum + size, 0);
  const digest = bundles.bundleDigest(bytes);
  return resultOf(items, { digest, bytes: total, record: made, warnings: [] }, outcome);
}

/** Parses a record whose name must match its file, because a renamed record describes another bundle. Throws a permanent TransferError. */
function recordOf(bytes: Buffer, name: string, bundles: Bundles): BundleRecord {
  const record = bundles.parseRecord(bytes, `The record of bundle "${name}"`);
  if (record.name === name) return record;
  throw new TransferError(
    'permanent',
    `${name}.arc-bundle.json is the record of the bundle "${record.name}" of ${record.created} under another name: remove it, or restore the record of "${name}".`,
  );
}

/** The rules of a policy, whatever their origin: moving a policy from a type to an Endpoint does not change a bundle. */
function demandsOf(policy: string | undefined): string[] {
  const all = policy === undefined ? [] : policyTexts(policy);
  return [...new Set(all.map(({ text }) => canonicalJson(JSON.parse(text))))].sort();
}

interface Made {
  digest: string;
  bytes: number;
  record: { blobs: readonly unknown[] };
  warnings: string[];
}

function resultOf(
  items: readonly { name: string; asked: string; digest: string }[],
  { digest, bytes, record, warnings }: Made,
  outcome: 'copied' | 'unchanged',
): BatchResult {
  const zero = { copied: 0, existed: 0, mounted: 0 };
  const how = outcome === 'copied' ? 'copied' : 'existed';
  return {
    digest,
    mediaType,
    bytes: { ...zero, [how]: bytes },
    blobs: { ...zero, [how]: record.blobs.length },
    referrers: 0,
    warnings: warnings.slice(0, 20),
    items: batchItems(
      items.map(
        (item): ItemResult => ({ source: item.asked, target: item.name, outcome, digest: item.digest }),
      ),
    ),
  };
}

interface Base {
  job: Job;
  place: BundlePlace;
  keys: Parameters<typeof fetchSigned>[2];
  bundles: Bundles;
}

/**
 * The record of the earlier bundle `spec.since`, whose blobs the other side has. If the Endpoint trusts keys, a receipt of the other side must
 * confirm that. Rejects with a TransferError.
 */
async function baseOf({ job, place, keys, bundles }: Base): Promise<Buffer | undefined> {
  const { artifact, destination } = job;
  if (artifact.spec.since === undefined || artifact.spec.since === '') return undefined;
  const since = bundleName(artifact.spec.since, 'since');
  const record = await fetchSigned(place, `${since}.arc-bundle.json`, keys, bundles, foreign(since, job));
  if (!record)
    throw config(
      `There is no record of the bundle "${since}" of spec.since in ${place.label}: restore ${since}.arc-bundle.json and its .sig, or remove spec.since.`,
    );
  const { items } = recordOf(record, since, bundles);
  const trusted = trustKeysOf(destination);
  if (!trusted) return record;
  const name = `${since}.receipt.json`;
  const other = config(
    `${name} in ${place.label} is not signed by a key of trust.pub of Endpoint "${destination.name}": bring it again with its .sig, or correct trust.pub.`,
  );
  const receipt = await fetchSigned(place, name, trusted, bundles, other);
  if (!receipt)
    throw config(
      `No receipt confirms yet that the bundle "${since}" of spec.since was imported: bring ${name} and its .sig from the other side to ${place.label}, or remove spec.since.`,
    );
  const told = bundles.parseReceipt(receipt, name);
  // The next bundle serves every destination in the receipt.
  const missing = bundles.importsIn(told).flatMap(({ destination: place, items: came }) => {
    const arrived = new Set(came.filter(({ outcome }) => outcome === 'imported').map((item) => item.name));
    return items
      .filter((item) => !arrived.has(item.name))
      .map((item) => `${item.name} was not imported to ${place}`);
  });
  if (told.bundle === bundles.bundleDigest(record) && missing.length === 0) return record;
  const what = missing.length === 0 ? `is one of another bundle, ${told.bundle}` : `says that ${missing[0]}`;
  throw config(
    `${name} ${what}, so spec.since cannot be "${since}": import that bundle again and bring the new receipt, or remove spec.since.`,
  );
}

function foreign(name: string, { destination }: Job): TransferError {
  return new TransferError(
    'permanent',
    `The record of bundle "${name}" is not signed by sign.key of Endpoint "${destination.name}": somebody else wrote it, or the key has changed. Remove its files, or use another name.`,
  );
}
