/**
 * A backup is a file of JSON lines: a header, the items, and the SHA-256 of all previous lines, which detects truncation and changes.
 */
export const backupFormat = 'arc-backup/1';

export interface BackupHeader {
  format: string;
  /** RFC 3339. */
  time: string;
  /** The revision of the snapshot. */
  revision: number;
  prefix: string;
  /** Number of items. */
  items: number;
}

export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * How far a restored store advances beyond the newest known revision of the previous store, so that it exceeds every revision that a client
 * has seen. If the store is lost, only the revision of the backup is known; this covers a day at 11,000 writes per second.
 */
export const revisionsAhead = 1_000_000_000;
