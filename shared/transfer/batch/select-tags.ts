import { TransferError } from '../errors/transfer-error.ts';
import { versionRange } from '../helm/version-range.ts';
import { newestFirst, type SemVer, versionOf } from '../helm/versions.ts';
import { matchesGlob } from '../reference/glob.ts';

/** Which tags of a repository are wanted: those that fit everything that is set. */
export interface TagSelection {
  /** These tags exactly; one that is not there is an error. */
  names?: readonly string[];
  /** A pattern with `*` for any characters and `?` for one. */
  match?: string;
  /** A range of versions such as `>=1.2 <2`; tags that are no versions do not fit. */
  semver?: string;
  /** Only so many, the highest versions first; tags that are no versions do not count. */
  newest?: number;
  /** Only images whose config says that they were made so many milliseconds ago at most. */
  maxAgeMs?: number;
}

interface Candidate {
  tag: string;
  version: SemVer | undefined;
}

/** Signatures, attestations and SBOMs that are stored as tags: they travel with the image they belong to. */
const attached = /^sha(?:256|512)-[0-9a-f]{64,128}(?:\.[a-z]+)?$/;

/**
 * The tags of `selection` without `newest`, the highest version first, then by name. Prereleases fit where each bound of the range has one; where there
 * is no range, they fit like all others. Throws a TransferError for a range that cannot be read, and for a missing name.
 */
export function matchingTags(tags: readonly string[], selection: TagSelection, repository: string): string[] {
  const { names, match, semver } = selection;
  const missing = (names ?? []).filter((name) => !tags.includes(name));
  if (missing.length > 0) {
    throw new TransferError(
      'permanent',
      `Repository ${repository} has no tag ${missing.slice(0, 10).join(', ')}: correct spec.tags.names.`,
    );
  }
  const wanted = names === undefined ? undefined : new Set(names);
  const range = semver === undefined ? undefined : versionRange(semver, 'eachBound');
  if (semver !== undefined && range === undefined)
    throw new TransferError(
      'config',
      `spec.tags.semver "${semver.slice(0, 100)}" is not a range such as ">=1.2 <2".`,
    );
  const fitting = tags.flatMap((tag): Candidate[] => {
    const version = versionOf(tag);
    const fits =
      !attached.test(tag) &&
      (wanted?.has(tag) ?? true) &&
      (match === undefined || matchesGlob(match, tag)) &&
      (range === undefined || (version !== undefined && range(version)));
    return fits ? [{ tag, version }] : [];
  });
  return fitting.toSorted(byVersion).map(({ tag }) => tag);
}

/**
 * The first `count` versions of tags that are sorted so; releases only, as far as there are any. Of tags for one version, such as `1.2` and
 * `v1.2.0`, each counts.
 */
export function newestTags(sorted: readonly string[], count: number): string[] {
  const versions = sorted.flatMap((tag) => {
    const version = versionOf(tag);
    return version ? [{ tag, isRelease: version.prerelease.length === 0 }] : [];
  });
  const releases = versions.filter(({ isRelease }) => isRelease);
  return (releases.length > 0 ? releases : versions).slice(0, count).map(({ tag }) => tag);
}

function byVersion(a: Candidate, b: Candidate): number {
  if (a.version && b.version) return newestFirst(a.version, b.version) || (a.tag < b.tag ? -1 : 1);
  if (a.version || b.version) return a.version ? -1 : 1;
  return a.tag < b.tag ? -1 : 1;
}
