import type SemVer from 'semver/classes/semver.js';
import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';

export type { SemVer };

/** Parses a version as Helm does, with an optional `v` and optional minor and patch (`v1`, `2024.01`); undefined if it is invalid. */
export function versionOf(text: string): SemVer | undefined {
  const [, numbers, rest = ''] = /^v?(\d+(?:\.\d+){0,2})([-+].+)?$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  return parse(`${major}.${minor}.${patch}${rest}`) ?? undefined;
}

/** Sorts the newest version first; versions that differ only in their build are sorted by its name. */
export function newestFirst(a: SemVer, b: SemVer): number {
  return compareBuild(b, a);
}
