import { type KeyObject, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { signBytes } from '../attest/detached-signature.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { isDigest } from '../reference/digest.ts';
import { writeWhole } from './export-bundle.ts';
import type { ImportedItem } from './import-bundle.ts';
import type { Bundle } from './read-bundle.ts';
import { parseAs } from './record.ts';

const digest = z.string().refine(isDigest, 'must be a sha256 or sha512 digest');
const text = z.string().max(1000);
/** Destinations of other imports that a receipt tells of: the last ones. */
const mostElsewhere = 8;

/** What one import did. Further fields are for people. */
const told = {
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
  ...told,
  elsewhere: z.array(z.looseObject(told)).max(mostElsewhere).exactOptional(),
});

/** What can be carried back: which bundle came, whether its signature was checked, and what became of each artifact. */
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

/** What each import did that a receipt tells of, its own first. */
export function importsIn(told: Receipt): Pick<Receipt, 'imported' | 'destination' | 'items'>[] {
  const { imported, destination, items, elsewhere = [] } = told;
  return [{ imported, destination, items }, ...elsewhere];
}

/** True if a receipt tells of the import `told`, or of a later one to the same destination. */
export function tellsOf(receipt: Receipt, told: Receipt): boolean {
  const isOf = (each: Pick<Receipt, 'imported' | 'destination'>) =>
    each.destination === told.destination && each.imported >= told.imported;
  return receipt.bundle === told.bundle && importsIn(receipt).some(isOf);
}

/** The receipt of an import, with what the one before it told of other destinations of the same bundle. */
export function joinedReceipt(told: Receipt, before: Receipt | undefined): Receipt {
  if (before?.bundle !== told.bundle) return told;
  const elsewhere = importsIn(before).filter(({ destination }) => destination !== told.destination);
  return elsewhere.length === 0 ? told : { ...told, elsewhere: elsewhere.slice(0, mostElsewhere) };
}

/** Writes a receipt and, with a key, its signature beside it. Rejects with a config TransferError. */
export async function saveReceipt(file: string, made: Receipt, key: KeyObject | undefined): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(made, null, 1)}\n`);
  // Of its own: another import of the bundle may write its receipt there at this moment.
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    if (key !== undefined) await writeWhole(`${file}.sig`, signBytes(bytes, key), partial);
    await writeWhole(file, bytes, partial);
  } catch (caught) {
    await rm(partial, { force: true }).catch(() => undefined);
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot write the receipt: ${why}.`, { cause: caught });
  }
}

/** Reads the bytes of a receipt; `what` names them. Throws a permanent TransferError that says what is wrong where. */
export function parseReceipt(bytes: Uint8Array, what: string): Receipt {
  return parseAs(receipt, bytes, what, 'a receipt of a bundle');
}
