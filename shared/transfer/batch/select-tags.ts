import { TransferError } from '../errors/transfer-error.ts';
import { versionRange } from '../helm/version-range.ts';
import { newestFirst, type SemVer, versionOf } from '../helm/versions.ts';
import { matchesGlob } from '../reference/glob.ts';

/** Selects tags of a repository by all conditions that are set. */
export interface TagSelection {
  /** Exact tags; a missing tag is an error. */
  names?: readonly string[];
  /** A pattern with `*` for any characters and `?` for one. */
  match?: string;
  /** A version range such as `>=1.2 <2`; tags that are no versions do not match. */
  semver?: string;
  /** Limits the selection to the highest versions; tags that are no versions do not count. */
  newest?: number;
  /** Limits the selection to images created at most this many milliseconds ago, by their config. */
  maxAgeMs?: number;
}

interface Candidate {
  tag: string;
  version: SemVer | undefined;
}

/** Tags of signatures, attestations and SBOMs, which are copied with their image. */
const attached = /^sha(?:256|512)-[0-9a-f]{64,128}(?:\.[a-z]+)?$/;

/**
 * Returns the tags of `selection` without `newest`: highest version first, then by name. Prereleases match a range only if each of its
 * bounds has a prerelease. Throws a TransferError for an invalid range and for a missing name.
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
  const matching = tags.flatMap((tag): Candidate[] => {
    const version = versionOf(tag);
    const isMatch =
      !attached.test(tag) &&
      (wanted?.has(tag) ?? true) &&
      (match === undefined || matchesGlob(match, tag)) &&
      (range === undefined || (version !== undefined && range(version)));
    return isMatch ? [{ tag, version }] : [];
  });
  return matching.toSorted(byVersion).map(({ tag }) => tag);
}

/**
 * Returns the tags of the `count` highest versions from sorted tags; releases only, if there are any. Several tags of one version, such as
 * `1.2` and `v1.2.0`, count separately.
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
