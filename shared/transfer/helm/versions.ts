import type SemVer from 'semver/classes/semver.js';
import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';

export type { SemVer };

/** The version in `text`, which may begin with `v` and lack its last parts (`v1`, `2024.01`), as Helm reads versions; undefined if it is none. */
export function versionOf(text: string): SemVer | undefined {
  const [, numbers, rest = ''] = /^v?(\d+(?:\.\d+){0,2})([-+].+)?$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  return parse(`${major}.${minor}.${patch}${rest}`) ?? undefined;
}

/** Sorts the newest version first; of those that differ in their build only, the later build by name. */
export function newestFirst(a: SemVer, b: SemVer): number {
  return compareBuild(b, a);
}
