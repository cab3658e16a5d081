import { matchesGlob } from './glob.ts';

/** Which files of a folder are meant: those that a pattern of `include` fits, or all without one, but none that one of `exclude` fits. */
export interface PathFilter {
  include?: readonly string[];
  exclude?: readonly string[];
}

export function isSelected({ include = [], exclude = [] }: PathFilter, path: string): boolean {
  const names = path.split('/');
  const fits = (pattern: string) => fitsNames(namesOfPattern(pattern), names);
  return (include.length === 0 || include.some(fits)) && !exclude.some(fits);
}

/**
 * As rclone has it: `*` and `?` stand for characters of one name, `**` for names at any depth; a pattern that begins with `/` is for the whole
 * path, any other one for its end; one that ends with `/` is for all files below.
 */
function namesOfPattern(pattern: string): string[] {
  const whole = pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`;
  return (whole.endsWith('/') ? `${whole}**` : whole).split('/');
}

/** Takes time in proportion to the product of both lengths. */
function fitsNames(pattern: readonly string[], names: readonly string[]): boolean {
  // reached[n]: the patterns so far fit the first n names.
  let reached = [true, ...names.map(() => false)];
  for (const one of pattern) {
    const first = reached.indexOf(true);
    reached = reached.map((_, count) => {
      if (one === '**') return first !== -1 && count >= first;
      const name = names[count - 1];
      return name !== undefined && reached[count - 1] === true && matchesGlob(one, name);
    });
  }
  return reached.at(-1) === true;
}
