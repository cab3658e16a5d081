import { isDeepStrictEqual } from 'node:util';
import type { Normal } from './normalise.ts';

/** One place in which two answers differ; undefined where an answer has nothing there. */
export interface Difference {
  /** Dotted, such as `body.0.details.causes.1.message`. */
  path: string;
  ours: unknown;
  reference: unknown;
}

/** Every place in which two answers differ, at the outermost level that shows it. */
export function compare(ours: Normal, reference: Normal): Difference[] {
  return differences('', ours, reference);
}

function differences(path: string, ours: unknown, reference: unknown): Difference[] {
  if (isDeepStrictEqual(ours, reference)) return [];
  if (!isTree(ours) || !isTree(reference) || Array.isArray(ours) !== Array.isArray(reference)) {
    return [{ path, ours, reference }];
  }
  if (Array.isArray(ours) && Array.isArray(reference) && ours.length !== reference.length) {
    return [{ path, ours, reference }];
  }
  const names = new Set([...Object.keys(ours), ...Object.keys(reference)]);
  const [a, b] = [new Map(Object.entries(ours)), new Map(Object.entries(reference))];
  return [...names].flatMap((name) =>
    differences(path === '' ? name : `${path}.${name}`, a.get(name), b.get(name)),
  );
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A difference that is right as it is: which steps and places it is about, and why. */
export interface Explanation {
  id: string;
  /** Ids of named steps, `<scenario>/<name>`. */
  steps: readonly string[];
  /** Regular expression on the path of the difference. */
  paths: string;
  reason: string;
}

/** The explanations that together cover all differences of a step; undefined if one is left over. */
export function explain(
  step: string,
  found: readonly Difference[],
  explanations: readonly Explanation[],
): string[] | undefined {
  const used = new Set<string>();
  for (const { path } of found) {
    const fits = explanations.find(
      ({ steps, paths }) => steps.includes(step) && new RegExp(paths).test(path),
    );
    if (!fits) return undefined;
    used.add(fits.id);
  }
  return [...used];
}
