import { type KeyObject, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { signBytes } from '../attest/detached-signature.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { isDigest } from '../reference/digest.ts';
import { writeAtomically } from './export-bundle.ts';
import type { ImportedItem } from './import-bundle.ts';
import type { Bundle } from './read-bundle.ts';
import { parseAs } from './record.ts';

const digest = z.string().refine(isDigest, 'must be a sha256 or sha512 digest');
const text = z.string().max(1000);
/** Maximum number of other destinations in a receipt. */
const maxElsewhere = 8;

/** One import. Further fields are for people. */
const importFields = {
  imported: z.iso.datetime(),
  destination: text,
  items: z
    .array(z.looseObject({ name: text, digest, outcome: z.enum(['imported', 'failed', 'stopped']) }))
    .max(1000),
};
const receipt = z.looseObject({
  kind: z.literal('arc-bundle-receipt'),
  version: z.literal(1),
  bundle: digest,
  bundleCreated: z.iso.datetime(),
  signature: z.enum(['verified', 'unchecked', 'none']),
  ...importFields,
  elsewhere: z.array(z.looseObject(importFields)).max(maxElsewhere).exactOptional(),
});

/** Proof to carry back: the imported bundle, whether its signature was verified, and the outcome of each artifact. */
export type Receipt = z.infer<typeof receipt>;

export function receiptOf(
  { digest: bundle, record, signature }: Bundle,
  destination: string,
  items: readonly ImportedItem[],
  now: Date,
): Receipt {
  return {
    kind: 'arc-bundle-receipt',
    version: 1,
    bundle,
    bundleCreated: record.created,
    signature,
    imported: now.toISOString(),
    destination,
    items: items.map((item) => ({ ...item })),
  };
}

/** All imports in a receipt, its own first. */
export function importsIn(told: Receipt): Pick<Receipt, 'imported' | 'destination' | 'items'>[] {
  const { imported, destination, items, elsewhere = [] } = told;
  return [{ imported, destination, items }, ...elsewhere];
}

/** True if `receipt` includes the import of `told`, or a later import to the same destination. */
export function includesImport(receipt: Receipt, told: Receipt): boolean {
  const isOf = (each: Pick<Receipt, 'imported' | 'destination'>) =>
    each.destination === told.destination && each.imported >= told.imported;
  return receipt.bundle === told.bundle && importsIn(receipt).some(isOf);
}

/** Merges the receipt of an import with the previous receipt's imports of the same bundle to other destinations. */
export function mergedReceipt(told: Receipt, before: Receipt | undefined): Receipt {
  if (before?.bundle !== told.bundle) return told;
  const elsewhere = importsIn(before).filter(({ destination }) => destination !== told.destination);
  return elsewhere.length === 0 ? told : { ...told, elsewhere: elsewhere.slice(0, maxElsewhere) };
}

/** Writes a receipt and, with a key, a detached signature. Rejects with a config TransferError. */
export async function saveReceipt(file: string, made: Receipt, key: KeyObject | undefined): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(made, null, 1)}\n`);
  // Unique, because a concurrent import of the bundle may write its receipt too.
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    if (key !== undefined) await writeAtomically(`${file}.sig`, signBytes(bytes, key), partial);
    await writeAtomically(file, bytes, partial);
  } catch (caught) {
    await rm(partial, { force: true }).catch(() => undefined);
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot write the receipt: ${why}.`, { cause: caught });
  }
}

/** Parses a receipt; `what` names it in messages. Throws a permanent TransferError with the invalid field. */
export function parseReceipt(bytes: Uint8Array, what: string): Receipt {
  return parseAs(receipt, bytes, what, 'a receipt of a bundle');
}
