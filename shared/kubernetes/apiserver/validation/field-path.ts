/** One step into an object: a field, a key, or a position in a list. */
export type Step = string | number;

/**
 * A field path as Kubernetes writes it: `spec.artifacts[0].type`. A key of a map that would not read as a field
 * stands in brackets: `metadata.labels[example.com/team]`.
 */
export function fieldPath(steps: readonly Step[]): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) path += path === '' ? step : `.${step}`;
    else path += `[${step.slice(0, 256)}]`;
  }
  return path;
}
