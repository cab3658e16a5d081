/** Local commands by image pattern: `artifact-conduit:*`; `*` stands for any text. The longest pattern that fits wins. */
export type Programs = Readonly<Record<string, readonly string[]>>;

/** The command that stands for an image; it takes the place of the container's own. undefined: the image is not mapped. */
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
