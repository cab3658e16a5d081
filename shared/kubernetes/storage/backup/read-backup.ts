import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { ArcError } from '#shared/base/errors';
import type { StoredItem } from '../interface/store.ts';
import { type BackupHeader, backupFormat } from './format.ts';

/** A verified backup, with its items in byte order of their keys. */
export interface Backup extends Omit<BackupHeader, 'items'> {
  items: StoredItem[];
}

/**
 * Reads and verifies a backup. Rejects with `Invalid` for a file that is not a backup, is truncated or was changed. The backup is held in
 * memory, because a restore must not begin before the checksum is verified.
 */
export async function readBackup(content: AsyncIterable<Uint8Array>): Promise<Backup> {
  const lines = createInterface({ input: Readable.from(content), crlfDelay: Number.POSITIVE_INFINITY });
  const hash = createHash('sha256');
  const items: StoredItem[] = [];
  let header: BackupHeader | undefined;
  let digest: string | undefined;
  for await (const line of lines) {
    if (digest !== undefined) throw invalid('something follows its last line');
    const value = parsed(line);
    if (typeof value.sha256 === 'string') {
      digest = value.sha256;
      continue;
    }
    hash.update(`${line}\n`);
    if (header === undefined) header = headerOf(value);
    else items.push(itemOf(value, header.prefix));
  }
  if (header === undefined || digest === undefined) throw invalid('it was cut off');
  if (digest !== hash.digest('hex') || items.length !== header.items)
    throw invalid('its checksum is of another content');
  return { ...header, items };
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // Reported below: the message of JSON.parse quotes the content.
  }
  throw invalid('one of its lines is not a JSON object; was it decompressed?');
}

function headerOf({ format, time, revision, prefix, items }: Record<string, unknown>): BackupHeader {
  if (format !== backupFormat)
    throw invalid(`its first line has the format ${JSON.stringify(format)}, not "${backupFormat}"`);
  if (typeof time !== 'string' || typeof prefix !== 'string' || !isCount(revision) || !isCount(items))
    throw invalid('its first line lacks a time, revision, prefix or number of items');
  return { format: backupFormat, time, revision, prefix, items };
}

function itemOf({ key, revision, value }: Record<string, unknown>, prefix: string): StoredItem {
  if (typeof key !== 'string' || !key.startsWith(prefix) || !isCount(revision) || typeof value !== 'string')
    throw invalid('one of its lines is not an item');
  return { key, revision, value: new Uint8Array(Buffer.from(value, 'base64')) };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function invalid(reason: string): ArcError {
  return new ArcError('Invalid', `this is not a whole backup of ARC: ${reason}`);
}
