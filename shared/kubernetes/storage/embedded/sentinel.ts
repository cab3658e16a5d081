import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { firstRevision } from '../memory/history.ts';
import { StoreDamaged } from './damage.ts';
import { decodeText, encodeText } from './record.ts';

/** The name of the file in the store's folder. */
export const sentinelFile = 'sentinel';
const revisionDigits = 16;

/** What the data must be, kept outside of it. */
export interface Expected {
  /** Of the store; it is in the data, too. */
  id: string;
  /** A revision that was on disk: the data may be newer, never older. At the first revision nothing was written yet. */
  revision: number;
}

/** The file that says what must be in the store's folder. */
export interface Sentinel {
  readonly id: string;
  /** Takes down a revision that is on disk. */
  note(revision: number): void;
  close(): void;
}

/** Reads what the data of a folder must be; undefined: no store of this format was in it yet. Throws StoreDamaged. */
export function readExpected(folder: string): Expected | undefined {
  const text = readSentinel(folder);
  if (text === undefined) return undefined;
  const [id, ...slots] = text.split('\n').map((line) => decodeText(Buffer.from(line, 'latin1')));
  // One of the two may have been cut off while it was written.
  const revisions = slots.filter((slot) => slot !== undefined).map(Number);
  if (id === undefined || revisions.length === 0)
    throw new StoreDamaged(`its file ${sentinelFile}, which says what the data must be, cannot be read`);
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

/** Writes the file anew, whole or not at all, and opens it. */
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

/** Opens the file of which `expected` was read. */
export function openSentinel(folder: string, { id, revision }: Expected): Sentinel {
  const file = openSync(path.join(folder, sentinelFile), 'r+');
  const headBytes = headText(id).length;
  const slotBytes = slotText(revision).length;
  const text = readSentinel(folder) ?? '';
  // The other slot is overwritten: one is always whole.
  let next = text.slice(headBytes, headBytes + slotBytes) === slotText(revision).toString('latin1') ? 1 : 0;
  let newest = revision;
  return {
    id,
    note(written) {
      if (written <= newest) return;
      try {
        writeSync(file, slotText(written), 0, slotBytes, headBytes + next * slotBytes);
        // That something was written must not be lost. Later the file may lag behind the data after a power cut, not after a kill.
        if (newest === firstRevision) {
          fdatasyncSync(file);
          syncFolder(folder);
        }
        newest = written;
        next = 1 - next;
      } catch {
        // The write of the data is on disk, and an older revision here is right, too.
      }
    },
    close: () => closeSync(file),
  };
}

function headText(id: string): Buffer {
  return Buffer.concat([encodeText(id), Buffer.from('\n')]);
}

/** Always of one length, so that it is overwritten in its place. */
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
