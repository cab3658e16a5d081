import { TransferError } from '../errors/transfer-error.ts';
import { versionRange } from './version-range.ts';
import { newestFirst, versionOf } from './versions.ts';

/** A version in a list of a chart's versions. */
export interface ListedVersion {
  version: string;
  deprecated: boolean;
  /** Withdrawn by its publisher, so it cannot be downloaded. */
  removed: boolean;
}

const maxListed = 10;

/**
 * Returns the version that `helm pull` would choose: an exact match, else the newest in the range; without a range or with `latest`, the newest
 * release. Unlike Helm it skips removed versions, and deprecated ones if others match. `chart` names the chart in messages. Throws a
 * TransferError if nothing matches.
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
    throw new TransferError('permanent', `The ${chart} has no version: check its name and remoteURL.`);
  const fits = any ? 'that is no prerelease' : `that matches spec.version "${wanted}"`;
  throw new TransferError('permanent', `There is no version of ${chart} ${fits}: it has ${listOf(names)}.`);
}

function listOf(names: readonly string[]): string {
  const more = names.length - maxListed;
  return `${names.slice(0, maxListed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
