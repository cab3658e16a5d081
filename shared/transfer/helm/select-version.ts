import { TransferError } from '../errors/transfer-error.ts';
import { versionRange } from './version-range.ts';
import { newestFirst, versionOf } from './versions.ts';

/** One version of a chart as a list names it. */
export interface ListedVersion {
  version: string;
  deprecated: boolean;
  /** Taken back by its publisher: there is nothing to download. */
  removed: boolean;
}

const mostNamed = 10;

/**
 * The version that `helm pull` would take: the one that is named exactly, else the newest in the range. Without a range, or with `latest`,
 * the newest that is no prerelease. Unlike Helm it passes over removed versions, and over deprecated ones while others fit. `chart` names
 * the chart in messages. Throws a TransferError if there is none.
 */
export function selectVersion<T extends ListedVersion>(
  listed: readonly T[],
  wanted: string | undefined,
  chart: string,
): T {
  const exact = listed.find(({ version }) => version === wanted);
  if (exact?.removed === true) {
    throw new TransferError(
      'permanent',
      `Version ${exact.version} of ${chart} was removed by its publisher: order another version.`,
    );
  }
  if (exact) return exact;
  const any = wanted === undefined || wanted === '' || wanted === 'latest';
  const takes = versionRange(any ? '*' : wanted);
  if (!takes) {
    throw new TransferError(
      'config',
      `spec.version "${wanted?.slice(0, 100)}" is neither a version of ${chart} nor a range such as "^1.2" or ">=1.0 <2.0".`,
    );
  }
  const sorted = listed
    .filter(({ removed }) => !removed)
    .flatMap((entry) => {
      const parsed = versionOf(entry.version);
      return parsed ? [{ entry, parsed }] : [];
    })
    .toSorted((a, b) => newestFirst(a.parsed, b.parsed));
  const fitting = sorted.filter(({ parsed }) => takes(parsed)).map(({ entry }) => entry);
  const found = fitting.find(({ deprecated }) => !deprecated) ?? fitting[0];
  if (found) return found;
  const names = sorted.map(({ entry }) => entry.version);
  if (names.length === 0)
    throw new TransferError('permanent', `There is no version of ${chart}: check its name and remoteURL.`);
  const fits = any ? 'that is no prerelease' : `that fits spec.version "${wanted}"`;
  throw new TransferError('permanent', `There is no version of ${chart} ${fits}: it has ${listOf(names)}.`);
}

function listOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return `${names.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
