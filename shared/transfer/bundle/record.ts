import * as z from 'zod';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf, isDigest } from '../reference/digest.ts';

/** The record of a bundle, and the detached signature over its exact bytes. */
export const recordName = 'arc-bundle.json';
export const signatureName = `${recordName}.sig`;
export const maxRecordBytes = 64 * 1024 * 1024;

const digest = z.string().refine(isDigest, 'must be a sha256 or sha512 digest');
const size = z.int().nonnegative();
const text = z.string().min(1).max(1000);
const blob = z.strictObject({ digest, size });
const item = z.strictObject({
  /** The reference as requested. */
  asked: text,
  platforms: z.array(text).max(50).optional(),
  /** The source, as in "repository team/app of registry r.io". */
  from: text,
  /** The name below the destination of an import: `path:tag` or `path@digest`. */
  name: text,
  /** The resolved manifest. */
  mediaType: text,
  digest,
  size,
  /** Digests of all its manifests and blobs, including those that an earlier bundle brought. */
  contents: z.array(digest).max(100_000),
});
const record = z.strictObject({
  kind: z.literal('arc-bundle'),
  version: z.literal(1),
  /** The file name without `.tar` and part number; an import that expects another name rejects the bundle. */
  name: text,
  created: z.iso.datetime(),
  /** The policy (JSON) that the artifacts passed when they were exported. */
  policy: z
    .string()
    .max(64 * 1024)
    .optional(),
  items: z.array(item).min(1).max(1000),
  /** The file index.json. */
  index: blob,
  /** All files below blobs/, by digest. */
  blobs: z.array(blob).max(100_000),
  /** The earlier bundle (digest of its arc-bundle.json) that an incremental bundle builds on, and the blobs omitted because of it. */
  requires: z
    .strictObject({
      bundle: digest,
      created: z.iso.datetime(),
      blobs: z.array(blob.extend({ at: z.array(text).max(1000) })).max(100_000),
    })
    .optional(),
});

/** The contents of a bundle and their origin: the file `arc-bundle.json`. Sizes in bytes. */
export type BundleRecord = z.infer<typeof record>;
export type BundleItem = BundleRecord['items'][number];
/** A blob that an earlier bundle brought. `at`: names of the imported artifacts that have it. */
export type RequiredBlob = NonNullable<BundleRecord['requires']>['blobs'][number];

/** Parses `arc-bundle.json`; `what` names it in messages. Throws a permanent TransferError with the invalid field. */
export function parseRecord(bytes: Uint8Array, what: string): BundleRecord {
  return parseAs(record, bytes, what, 'a record of a bundle');
}

/** Parses JSON with a schema. Throws a permanent TransferError. */
export function parseAs<T>(form: z.ZodType<T>, bytes: Uint8Array, what: string, kind: string): T {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (caught) {
    throw new TransferError('permanent', `${what} is not JSON: the file is damaged, or is not a bundle's.`, {
      cause: caught,
    });
  }
  const read = form.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'it';
  throw new TransferError(
    'permanent',
    `${what} is not ${kind} that this version reads: ${where}: ${issue?.message}.`,
  );
}

/** The bytes of `arc-bundle.json`, indented for people. */
export function recordBytes(made: BundleRecord): Buffer {
  return Buffer.from(`${JSON.stringify(made, null, 1)}\n`);
}

/** The blobs that a bundle based on `since` can omit, and the repositories that have them. */
export function broughtBy(since: BundleRecord): Map<string, RequiredBlob> {
  const brought = new Map<string, RequiredBlob>();
  for (const each of since.blobs) brought.set(each.digest, { ...each, at: [] });
  for (const each of since.requires?.blobs ?? []) brought.set(each.digest, { ...each, at: [...each.at] });
  for (const { name, contents } of since.items)
    for (const each of contents) {
      const at = brought.get(each)?.at;
      // A few repositories suffice to find it again.
      if (at !== undefined && at.length < 10 && !at.includes(name)) at.push(name);
    }
  return brought;
}

/** The digest that identifies a bundle: the digest of its record. */
export function bundleDigest(bytes: Uint8Array): string {
  return digestOf(bytes);
}
