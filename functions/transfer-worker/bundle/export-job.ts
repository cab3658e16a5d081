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

/** Below what a file of FAT32 can have. */
const usualPart = '4GB';
const mediaType = 'application/vnd.arc.bundle.v1+tar';

/**
 * Writes what `spec.contents` names as one signed bundle `spec.name` into the place of the destination. A bundle never changes: one that is there
 * with these contents is left alone, and any other is an error. Rejects with a TransferError.
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

  /** The bundle that is there, once more where its parts are lost. */
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
    // On its way to a server: an export that was killed had made it.
    const made = await readSigned(place.folder, record, keys, bundles, refusal);
    const ready = made && resultOfRecord(made, known, 'copied');
    const result = ready && (await isWhole(ready.digest)) ? ready : await write(place.folder);
    await publish();
    return result;
  }

  /** Makes a bundle again of which the record is there alone: the same to the last byte, as others know it by its digest. */
  async function makeAgain(before: BundleRecord, digest: string | undefined): Promise<BatchResult> {
    // Beside what is left of it in a folder, until that can be replaced.
    const beside = path.join(place.folder, `${name}.again`);
    const folder = place.onServer ? place.folder : beside;
    await mkdir(folder, { recursive: true });
    const made = await write(folder, before);
    if (made.digest !== digest) {
      await removeAll([beside]);
      await place.tidy();
      throw config(
        `Parts of the bundle "${name}" are missing in ${place.label}, and it cannot be made again as it was: its source, or what refers to it, has changed since. Put its parts back, or write another spec.name.`,
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
    // The record last: where it lies, the bundle is complete.
    for (const each of [...parts, `${record}.sig`, record]) await place.store(each, progress);
  }

  /** What an import could not read is not sent: its record says nothing of its parts. */
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

  /** Writes the bundle into a folder; as it was before, if it was. */
  async function write(folder: string, before?: BundleRecord): Promise<BatchResult> {
    const since = await baseOf({ job, place, keys, bundles });
    const target = path.join(folder, path.basename(file));
    // What an export that was killed has left; its folder of blobs stays, and is gone on with.
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
  /** The rules of today, as JSON. */
  policy: string | undefined;
}

/** What a repeat of an order finds: the bundle that it has made. */
function resultOfRecord(
  bytes: Buffer,
  { contents, name, bundles, policy }: Known,
  outcome: 'copied' | 'unchanged',
): BatchResult {
  const made = recordOf(bytes, name, bundles);
  const { items, blobs } = made;
  // One entry of the contents may stand for several artifacts.
  const asked = [...new Set(items.map((item) => item.asked))];
  const isSame =
    asked.length === contents.length && asked.every((text, index) => text === contents[index]?.text);
  if (!isSame)
    throw config(
      `The bundle "${name}" is there already, with other contents, and a bundle never changes: write another spec.name.`,
    );
  if (!isDeepStrictEqual(demandsOf(made.policy), demandsOf(policy)))
    throw config(
      `The bundle "${name}" is there already, made under another policy, and a bundle never changes: write another spec.name.`,
    );
  const total = blobs.reduce((sum, { size }) => sum + size, 0);
  const digest = bundles.bundleDigest(bytes);
  return resultOf(items, { digest, bytes: total, record: made, warnings: [] }, outcome);
}

/** A record whose name is that of its file: one that was copied to another name speaks of another bundle. Throws a permanent TransferError. */
function recordOf(bytes: Buffer, name: string, bundles: Bundles): BundleRecord {
  const record = bundles.parseRecord(bytes, `The record of bundle "${name}"`);
  if (record.name === name) return record;
  throw new TransferError(
    'permanent',
    `${name}.arc-bundle.json is the record of the bundle "${record.name}" of ${record.created} under another name: take it away, or put the one of "${name}" there.`,
  );
}

/** What policies demand, whoever asks for it: the same policy may move from a type to an Endpoint, and a bundle stays what it is. */
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
 * The record of the earlier bundle `spec.since`, whose blobs the other side has. Where the Endpoint trusts keys, a receipt of the other side has to
 * say so. Rejects with a TransferError.
 */
async function baseOf({ job, place, keys, bundles }: Base): Promise<Buffer | undefined> {
  const { artifact, destination } = job;
  if (artifact.spec.since === undefined || artifact.spec.since === '') return undefined;
  const since = bundleName(artifact.spec.since, 'since');
  const record = await fetchSigned(place, `${since}.arc-bundle.json`, keys, bundles, foreign(since, job));
  if (!record)
    throw config(
      `There is no record of the bundle "${since}" of spec.since in ${place.label}: put ${since}.arc-bundle.json and its .sig there again, or leave spec.since out.`,
    );
  const { items } = recordOf(record, since, bundles);
  const trusted = trustKeysOf(destination);
  if (!trusted) return record;
  const name = `${since}.receipt.json`;
  const other = config(
    `${name} in ${place.label} is not signed by a key of trust.pub of Endpoint "${destination.name}": carry it here again with its .sig, or correct trust.pub.`,
  );
  const receipt = await fetchSigned(place, name, trusted, bundles, other);
  if (!receipt)
    throw config(
      `No receipt says yet that the bundle "${since}" of spec.since has arrived: carry ${name} and its .sig from the other side into ${place.label}, or leave spec.since out.`,
    );
  const told = bundles.parseReceipt(receipt, name);
  // The next bundle is for every destination that the receipt tells of.
  const missing = bundles.importsIn(told).flatMap(({ destination: place, items: came }) => {
    const arrived = new Set(came.filter(({ outcome }) => outcome === 'imported').map((item) => item.name));
    return items
      .filter((item) => !arrived.has(item.name))
      .map((item) => `${item.name} did not arrive at ${place}`);
  });
  if (told.bundle === bundles.bundleDigest(record) && missing.length === 0) return record;
  const what = missing.length === 0 ? `is one of another bundle, ${told.bundle}` : `says that ${missing[0]}`;
  throw config(
    `${name} ${what}, so spec.since cannot be "${since}": import that bundle again and carry the new receipt here, or leave spec.since out.`,
  );
}

function foreign(name: string, { destination }: Job): TransferError {
  return new TransferError(
    'permanent',
    `The record of bundle "${name}" is not signed by sign.key of Endpoint "${destination.name}": somebody else has written it, or the key is a new one. Take its files away, or use another name.`,
  );
}
