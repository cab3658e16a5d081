/** Local commands by image pattern: `artifact-conduit:*`; `*` matches any text. The longest matching pattern wins. */
export type Programs = Readonly<Record<string, readonly string[]>>;

/** Returns the command for an image, which replaces the container's own. undefined: the image is not mapped. */
export function programFor(image: string, programs: Programs): readonly string[] | undefined {
  const fitting = Object.keys(programs)
    .filter((pattern) => patternOf(pattern).test(image))
    .sort((a, b) => b.length - a.length);
  const [best] = fitting;
  return best === undefined ? undefined : programs[best];
}

function patternOf(pattern: string): RegExp {
  const escaped = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`);
}
