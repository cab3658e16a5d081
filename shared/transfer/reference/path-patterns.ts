import { matchesGlob } from './glob.ts';

/** Selects files of a folder: those that match a pattern of `include` (by default all), except those that match a pattern of `exclude`. */
export interface PathFilter {
  include?: readonly string[];
  exclude?: readonly string[];
}

export function isSelected({ include = [], exclude = [] }: PathFilter, path: string): boolean {
  const names = path.split('/');
  const fits = (pattern: string) => matchesNames(namesOfPattern(pattern), names);
  return (include.length === 0 || include.some(fits)) && !exclude.some(fits);
}

/**
 * Pattern syntax of rclone: `*` and `?` match characters of one name, `**` matches names at any depth. A pattern that begins with `/` is
 * anchored at the root, others match at any depth; one that ends with `/` matches all files below.
 */
function namesOfPattern(pattern: string): string[] {
  const whole = pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`;
  return (whole.endsWith('/') ? `${whole}**` : whole).split('/');
}

/** Takes time proportional to the product of both lengths. */
function matchesNames(pattern: readonly string[], names: readonly string[]): boolean {
  // reached[n]: the pattern so far matches the first n names.
  let reached = [true, ...names.map(() => false)];
  for (const part of pattern) {
    const first = reached.indexOf(true);
    reached = reached.map((_, count) => {
      if (part === '**') return first !== -1 && count >= first;
      const name = names[count - 1];
      return name !== undefined && reached[count - 1] === true && matchesGlob(part, name);
    });
  }
  return reached.at(-1) === true;
}
