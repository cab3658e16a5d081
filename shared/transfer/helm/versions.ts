import Range from 'semver/classes/range.js';
import type SemVer from 'semver/classes/semver.js';
import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';

export type { SemVer };

/** Most characters of a range: a longer one is a mistake. */
const longestRange = 256;

/** The version in `text`, which may begin with `v` and lack its last parts (`v1`, `2024.01`), as Helm reads versions; undefined if it is none. */
export function versionOf(text: string): SemVer | undefined {
  const [, numbers, rest = ''] = /^v?(\d+(?:\.\d+){0,2})([-+].+)?$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const missing = '.0'.repeat(3 - numbers.split('.').length);
  return parse(numbers + missing + rest, { loose: true }) ?? undefined;
}

/** Sorts the newest version first; of those that differ in their build only, the later build by name. */
export function newestFirst(a: SemVer, b: SemVer): number {
  // Without `loose` the library would parse them again, and lose the build.
  return compareBuild(b, a, { loose: true });
}

/** True for the versions that a range takes. */
export type VersionRange = (version: SemVer) => boolean;

/**
 * The range that `text` describes, in the forms of Helm (Masterminds/semver) and npm: `1.2.3`, `^1.2`, `~1.2.0`, `>=1.2, <2 || 3.x`, `!=1.3`,
 * `*`. It takes prereleases only where each of its bounds has one, such as `>=1.2.0-0`. undefined if it cannot be read.
 */
export function versionRange(text: string): VersionRange | undefined {
  if (text.length > longestRange) return undefined;
  const groups = text.split('||').map(conjunction);
  const readable = groups.filter((group) => group !== undefined);
  return readable.length === groups.length
    ? (version) => readable.some((takes) => takes(version))
    : undefined;
}

function conjunction(text: string): VersionRange | undefined {
  const bounds = text
    .replaceAll(',', ' ')
    .replace(/([<>=!~^]+)\s+/g, '$1')
    .replaceAll('=>', '>=')
    .replaceAll('=<', '<=')
    .split(/\s+/)
    .filter(Boolean);
  const includePrerelease = bounds.length > 0 && bounds.every((bound) => bound === '-' || /\d-/.test(bound));
  try {
    const range = new Range(bounds.filter((bound) => !bound.startsWith('!=')).join(' '), {
      includePrerelease,
    });
    const excluded = bounds
      .filter((bound) => bound.startsWith('!='))
      .map((bound) => new Range(bound.slice(2), { includePrerelease: true }));
    return (version) => range.test(version) && !excluded.some((one) => one.test(version));
  } catch {
    // The library says only that the comparator is invalid.
    return undefined;
  }
}
