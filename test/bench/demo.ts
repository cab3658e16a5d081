import { ArcError } from '#shared/base/errors';
import { runDemo } from '../../scripts/demo/run.ts';
import { countExchanges } from './measure/exchange-count.ts';
import { progress, report } from './measure/report.ts';

/**
 * `bench demo [--detail]`: what the demo costs the conduit from the start of its standalone to the end of its Order: deliveries to functions,
 * requests by parts of ARC, and how many of these were refused as conflicts.
 */
export async function benchDemo(words: readonly string[]): Promise<void> {
  const count = countExchanges();
  const { ok } = await runDemo({ json: true, keep: false, source: undefined }, AbortSignal.timeout(120_000));
  if (!ok) throw new ArcError('InternalError', 'the demo failed');
  const figure = { bench: 'demo', n: 5, less: true } as const;
  report({ ...figure, case: 'deliveries', ours: count.deliveries, unit: 'deliveries' });
  report({ ...figure, case: 'requests', ours: count.allRequests, unit: 'requests' });
  report({ ...figure, case: 'conflicts', ours: count.conflicts, unit: 'conflicts' });
  const lines = Object.entries(count.detail).sort(([, a], [, b]) => b - a);
  if (words.includes('--detail')) for (const [what, times] of lines) progress(`  ${times} ${what}`);
}
