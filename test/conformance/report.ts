import type { Difference, Explanation } from './compare.ts';
import type { Verdict } from './judge.ts';

export interface Counts {
  requests: number;
  same: number;
  explained: number;
  unexplained: number;
}

export function countVerdicts(verdicts: readonly Verdict[]): Counts {
  const different = verdicts.filter(({ differences }) => differences.length > 0);
  const explained = different.filter((verdict) => verdict.explained !== undefined).length;
  return {
    requests: verdicts.length,
    same: verdicts.length - different.length,
    explained,
    unexplained: different.length - explained,
  };
}

/** The differences nothing explains, for people. */
export function unexplained(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter(({ differences, explained }) => differences.length > 0 && explained === undefined)
    .map(shown);
}

/** Explanations, and steps of them, that nothing needs any more. */
export function idle(verdicts: readonly Verdict[], explanations: readonly Explanation[]): string[] {
  const used = new Set(
    verdicts
      .filter(({ differences }) => differences.length > 0)
      .flatMap(({ id, explained = [] }) => explained.map((explanation) => `${explanation}: ${id}`)),
  );
  return explanations
    .flatMap(({ id, steps }) => steps.map((step) => `${id}: ${step}`))
    .filter((one) => !used.has(one));
}

/** Prints every difference to stderr, the unexplained last, and explanations nothing needs any more. */
export function report(verdicts: readonly Verdict[], explanations: readonly Explanation[]): void {
  for (const { differences, explained, id } of verdicts) {
    if (differences.length > 0 && explained) console.error(`explained by ${explained.join(', ')}: ${id}`);
  }
  for (const text of unexplained(verdicts)) console.error(text);
  for (const one of idle(verdicts, explanations)) console.error(`explanation not needed: ${one}`);
}

function shown({ id, step, differences }: Verdict): string {
  return [`\n${id}: ${step.method} ${step.path}`, ...differences.map(line)].join('\n');
}

function line({ path, ours, reference }: Difference): string {
  return `  ${path}\n    ours:      ${text(ours)}\n    reference: ${text(reference)}`;
}

function text(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'nothing';
  return whole.length > 1200 ? `${whole.slice(0, 1200)}…` : whole;
}
