import compare from 'semver/functions/compare.js';
import { type SemVer, versionOf } from './versions.ts';

/** True for the versions in the range. */
export type VersionRange = (version: SemVer) => boolean;

/** Whether a conjunction of bounds includes prereleases: if one bound has a prerelease, as in Helm, or only if each has one. */
export type Prereleases = 'oneBound' | 'eachBound';

/** Longer ranges are rejected as mistakes. */
const maxRangeLength = 256;

/** One comparison of a range. `fields` is the number of fields given, of major, minor and patch; the others are 0 in `version`. */
interface Bound {
  operator: string;
  version: SemVer;
  fields: 0 | 1 | 2 | 3;
}

const part = '[0-9xX*|]+';
const identifiers = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const partial = String.raw`v?${part}(?:\.${part})?(?:\.${part})?(?:-${identifiers})?(?:\+${identifiers})?`;
const space = String.raw`[\t\n\f\r ]`;
/** `1.2 - 1.4`, anywhere. */
const hyphenated = new RegExp(`${space}*(${partial})${space}+-${space}+(${partial})${space}*`, 'g');
/** One bound and the separators after it. Sticky and unambiguous: the pattern of Helm's library takes exponential time. */
const nextBound = new RegExp(
  `${space}*(!=|>=|=>|<=|=<|~>|=|>|<|~|\\^|)${space}*(${partial})(?:${space}*,(?!${space}*$)|${space}+|$)`,
  'y',
);
const parts = new RegExp(`^v?(${part})(?:\\.(${part}))?(?:\\.(${part}))?(-${identifiers})?`);

/**
 * Parses a range as Helm does: `1.2.3`, `^1.2`, `~1.2.0`, `>=1.2, <2 || 3.x`, `!=1.3`, `1.2 - 1.4`, `*`. Returns undefined if it is invalid.
 *
 * The rules, with their oddities, are those of constraints.go in github.com/Masterminds/semver/v3 3.4.0, which Helm 3 uses, not those of npm:
 * `0-0`, `~1-0` and `^2-0` include prereleases, `>11` is 12.0.0 or later and `>11.0.0` is not, `~0.0.0` is any version, and `!=1.2.x` includes
 * prereleases of 1.2.x.
 */
export function versionRange(text: string, prereleases: Prereleases = 'oneBound'): VersionRange | undefined {
  if (text.length > maxRangeLength) return undefined;
  const groups = text
    .replace(hyphenated, (_, from: string, to: string) => `>= ${from}, <= ${to} `)
    .split('||')
    .map(boundsOf);
  const readable = groups.filter((group) => group !== undefined);
  if (readable.length < groups.length) return undefined;
  const checked = readable.map((bounds) => {
    const includesPrereleases =
      prereleases === 'oneBound' ? bounds.some(isPrerelease) : bounds.every(isPrerelease);
    return { bounds, takesPrereleases: includesPrereleases };
  });
  return (version) =>
    checked.some(
      ({ bounds, takesPrereleases }) =>
        (takesPrereleases || version.prerelease.length === 0) &&
        bounds.every((bound) => checks[bound.operator]?.(version, bound)),
    );
}

function isPrerelease({ version }: Bound): boolean {
  return version.prerelease.length > 0;
}

/** Parses the bounds of one group, which has at least one; undefined if any is invalid. */
function boundsOf(text: string): Bound[] | undefined {
  const bounds: Bound[] = [];
  let end = 0;
  while (bounds.length === 0 || end < text.length) {
    nextBound.lastIndex = end;
    const [, operator = '', version = ''] = nextBound.exec(text) ?? [];
    end = nextBound.lastIndex;
    const bound = version === '' ? undefined : boundOf(operator, version);
    if (bound === undefined) return undefined;
    bounds.push(bound);
  }
  return bounds;
}

function boundOf(operator: string, text: string): Bound | undefined {
  const [, major = '', minor, patch, prerelease = ''] = parts.exec(text) ?? [];
  const isAny = (one: string | undefined) => one === undefined || /^[xX*]$/.test(one);
  const fields = isAny(major) ? 0 : isAny(minor) ? 1 : isAny(patch) ? 2 : 3;
  const named = [major, minor, patch].slice(0, fields);
  const whole = [...named, ...Array.from({ length: 3 - fields }, () => '0')].join('.');
  const version = versionOf(whole + prerelease);
  return version && { operator, version, fields };
}

type Check = (version: SemVer, bound: Bound) => boolean;

const tilde: Check = (version, { version: low, fields }) => {
  if (compare(version, low) < 0) return false;
  const isZero = low.major === 0 && low.minor === 0 && low.patch === 0;
  if (isZero && (fields === 0 || fields === 3)) return true;
  return version.major === low.major && (fields === 1 || version.minor === low.minor);
};

const equal: Check = (version, bound) =>
  bound.fields < 3 ? tilde(version, bound) : compare(version, bound.version) === 0;

const notEqual: Check = (version, { version: other, fields }) => {
  if (fields === 3 || fields === 0) return compare(version, other) !== 0;
  if (version.major !== other.major) return true;
  if (fields === 1) return false;
  // A prerelease of 1.2.x differs from the bound, which covers only releases.
  return version.minor !== other.minor || !samePrerelease(version, other);
};

const greater: Check = (version, { version: low, fields }) => {
  if (fields === 3) return compare(version, low) > 0;
  if (version.major !== low.major) return version.major > low.major;
  if (fields === 1) return false;
  return fields === 2 ? version.minor > low.minor : compare(version, low) > 0;
};

const lessOrEqual: Check = (version, { version: high, fields }) => {
  if (fields === 3) return compare(version, high) <= 0;
  if (version.major !== high.major) return version.major < high.major;
  return fields === 1 || version.minor <= high.minor;
};

const greaterOrEqual: Check = (version, { version: low }) => compare(version, low) >= 0;

const caret: Check = (version, { version: low, fields }) => {
  if (compare(version, low) < 0) return false;
  if (low.major > 0 || fields === 1) return version.major === low.major;
  if (version.major > 0) return false;
  if (low.minor > 0 || fields === 2) return version.minor === low.minor;
  return version.minor === 0 && version.patch === low.patch;
};

const checks: Record<string, Check> = {
  '': equal,
  '=': equal,
  '!=': notEqual,
  '>': greater,
  '<': (version, { version: high }) => compare(version, high) < 0,
  '>=': greaterOrEqual,
  '=>': greaterOrEqual,
  '<=': lessOrEqual,
  '=<': lessOrEqual,
  '~': tilde,
  '~>': tilde,
  '^': caret,
};

function samePrerelease(a: SemVer, b: SemVer): boolean {
  return a.prerelease.join('.') === b.prerelease.join('.');
}
