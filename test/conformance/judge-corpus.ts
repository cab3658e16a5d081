import type { Explanation } from './compare.ts';
import { corpus } from './corpus/index.ts';
import explained from './explained.json' with { type: 'json' };
import { judgeScenario, type Verdict } from './judge.ts';
import type { Pair } from './pair.ts';

/** The differences that are right as they are. */
export const explanations: readonly Explanation[] = explained;

/** Runs the scenarios whose names match on both servers, one after another. */
export async function judgeCorpus(pair: Pair, filter = /(?:)/): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [index, scenario] of corpus.entries()) {
    if (!filter.test(scenario.name)) continue;
    verdicts.push(...(await judgeScenario(pair, scenario, `case-${index}`, explanations)));
  }
  return verdicts;
}
