import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { firstRevision } from '../memory/history.ts';
import { StoreDamaged } from './damage.ts';
import { decodeText, encodeText } from './record.ts';

/** The sentinel file in the folder of the store. */
export const sentinelFile = 'sentinel';
const revisionDigits = 16;

/** The expected state of the data, stored outside of it. */
export interface Expected {
  /** The ID of the store, which is also in the data. */
  id: string;
  /** A revision on disk: the data may be newer, but not older. At the first revision, nothing was written yet. */
  revision: number;
}

/** The open sentinel file, which records the expected state of the data. */
export interface Sentinel {
  readonly id: string;
  /** Records a revision that is on disk. */
  note(revision: number): void;
  close(): void;
}

/** Returns the expected state of the data in a folder; undefined without a sentinel. Throws StoreDamaged. */
export function readExpected(folder: string): Expected | undefined {
  const text = readSentinel(folder);
  if (text === undefined) return undefined;
  const [id, ...slots] = text.split('\n').map((line) => decodeText(Buffer.from(line, 'latin1')));
  // A crash may have truncated one of the two slots.
  const revisions = slots.filter((slot) => slot !== undefined).map(Number);
  if (id === undefined || revisions.length === 0)
    throw new StoreDamaged(`its file ${sentinelFile}, which records the expected data, cannot be read`);
  return { id, revision: Math.max(...revisions) };
}

function readSentinel(folder: string): string | undefined {
  try {
    return readFileSync(path.join(folder, sentinelFile), 'latin1');
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined;
    throw caught;
  }
}

/** Replaces the file atomically and opens it. */
export function writeSentinel(folder: string, expected: Expected): Sentinel {
  const target = path.join(folder, sentinelFile);
  const file = openSync(`${target}.partial`, 'w', 0o600);
  const slot = slotText(expected.revision);
  writeSync(file, Buffer.concat([headText(expected.id), slot, slot]));
  fsyncSync(file);
  closeSync(file);
  renameSync(`${target}.partial`, target);
  return openSentinel(folder, expected);
}

/** Opens the file from which `expected` was read. */
export function openSentinel(folder: string, { id, revision }: Expected): Sentinel {
  const file = openSync(path.join(folder, sentinelFile), 'r+');
  const headBytes = headText(id).length;
  const slotBytes = slotText(revision).length;
  const text = readSentinel(folder) ?? '';
  // Overwrites the older slot, so that one slot is always valid.
  let next = text.slice(headBytes, headBytes + slotBytes) === slotText(revision).toString('latin1') ? 1 : 0;
  let newest = revision;
  return {
    id,
    note(written) {
      if (written <= newest) return;
      try {
        writeSync(file, slotText(written), 0, slotBytes, headBytes + next * slotBytes);
        // The first write must be durable. Later, the file may lag behind the data after a power failure, but not after a crash.
        if (newest === firstRevision) {
          fdatasyncSync(file);
          syncFolder(folder);
        }
        newest = written;
        next = 1 - next;
      } catch {
        // The data is on disk, and an older revision here is also valid.
      }
    },
    close: () => closeSync(file),
  };
}

function headText(id: string): Buffer {
  return Buffer.concat([encodeText(id), Buffer.from('\n')]);
}

/** Has a constant length, so that it can be overwritten in place. */
function slotText(revision: number): Buffer {
  return Buffer.concat([encodeText(String(revision).padStart(revisionDigits, '0')), Buffer.from('\n')]);
}

/** Makes a rename durable. Windows cannot open folders. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
