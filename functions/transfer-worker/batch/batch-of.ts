import type { Job } from '#shared/domain';
import { type Batch, type BatchItem, formatReference, type TransferContext } from '#shared/transfer';
import { openSink } from '../ends/ends.ts';
import { expandChart, isChartBatch } from './chart-images.ts';
import type { Expansion, Found } from './expansion.ts';
import { expandTags, isTagBatch } from './tags.ts';

/** Returns a function that expands an artifact with several contents; undefined for a single artifact. */
export function expansionOf(
  job: Omit<Job, 'destination'>,
): ((context: TransferContext) => Promise<Expansion>) | undefined {
  if (isTagBatch(job)) return (context) => expandTags(job, context);
  if (isChartBatch(job)) return (context) => expandChart(job, context);
  return undefined;
}

/** Returns a function that expands an artifact into items with destinations; undefined for a single artifact. */
export function batchOf(job: Job): ((context: TransferContext) => Promise<Batch>) | undefined {
  const expand = expansionOf(job);
  if (expand === undefined) return undefined;
  const item = ({ source, name, open }: Found): BatchItem => ({
    source,
    target: formatReference(name),
    async open(context) {
      // Expansion has applied the override to the name already.
      const landing = { artifact: { ...job.artifact, spec: {} }, destination: job.destination };
      return { source: await open(context), destination: await openSink(landing, name, context) };
    },
  });
  return async (context) => {
    const { items, last, warnings } = await expand(context);
    return { items: items.map(item), ...(last && { last: item(last) }), warnings };
  };
}
