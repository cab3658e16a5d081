import type { Job } from '#shared/domain';
import { type Batch, type BatchItem, formatReference, type Opening } from '#shared/transfer';
import { openSink } from '../ends/ends.ts';
import { expandChart, isChartBatch } from './chart-images.ts';
import type { Expansion, Found } from './expansion.ts';
import { expandTags, isTagBatch } from './tags.ts';

/** Finds what an artifact stands for that is several ones; undefined for one that is one. */
export function expansionOf(
  job: Omit<Job, 'destination'>,
): ((opening: Opening) => Promise<Expansion>) | undefined {
  if (isTagBatch(job)) return (opening) => expandTags(job, opening);
  if (isChartBatch(job)) return (opening) => expandChart(job, opening);
  return undefined;
}

/** As `expansionOf`, with the destination of each. */
export function batchOf(job: Job): ((opening: Opening) => Promise<Batch>) | undefined {
  const expand = expansionOf(job);
  if (expand === undefined) return undefined;
  const item = ({ source, name, open }: Found): BatchItem => ({
    source,
    target: formatReference(name),
    async open(opening) {
      // What is found has the name by which it lands.
      const landing = { artifact: { ...job.artifact, spec: {} }, destination: job.destination };
      return { source: await open(opening), destination: await openSink(landing, name, opening) };
    },
  });
  return async (opening) => {
    const { items, last, warnings } = await expand(opening);
    return { items: items.map(item), ...(last && { last: item(last) }), warnings };
  };
}
