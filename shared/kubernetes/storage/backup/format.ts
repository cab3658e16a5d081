/**
 * A backup is lines of JSON: a header, one item each, and the SHA-256 of all lines before it, so that a file that was cut off or changed
 * is recognised.
 */
export const backupFormat = 'arc-backup/1';

export interface BackupHeader {
  format: string;
  /** RFC 3339. */
  time: string;
  /** The revision of the store that the backup is consistent at. */
  revision: number;
  prefix: string;
  /** How many items follow. */
  items: number;
}

export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * How far a restored store goes on beyond the newest revision that is known of before. Of a store that was lost only the backup's is known: a
 * day at 11,000 writes a second lies between.
 */
export const revisionsAhead = 1_000_000_000;
