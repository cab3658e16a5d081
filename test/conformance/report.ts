import type { Difference, Explanation } from './compare.ts';
import type { Verdict } from './judge.ts';

export interface Counts {
  requests: number;
  same: number;
  explained: number;
  unexplained: number;
}

/** Prints every difference to stderr, the unexplained last, and explanations nothing needs any more. */
export function report(verdicts: readonly Verdict[], explanations: readonly Explanation[]): Counts {
  const different = verdicts.filter(({ differences }) => differences.length > 0);
  const explained = different.filter((verdict) => verdict.explained !== undefined);
  const unexplained = different.filter((verdict) => verdict.explained === undefined);
  for (const verdict of explained)
    console.error(`explained by ${verdict.explained?.join(', ')}: ${verdict.id}`);
  for (const verdict of unexplained) console.error(shown(verdict));
  const used = new Set(explained.flatMap((verdict) => verdict.explained ?? []));
  for (const { id } of explanations) if (!used.has(id)) console.error(`explanation ${id} was not needed`);
  return {
    requests: verdicts.length,
    same: verdicts.length - different.length,
    explained: explained.length,
    unexplained: unexplained.length,
  };
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
