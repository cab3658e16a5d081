import type { Job } from '#shared/domain';
import type { Batch, Opening } from '#shared/transfer';
import { expandChart, isChartBatch } from './chart-images.ts';
import { expandTags, isTagBatch } from './tags.ts';

/** Finds what a job stands for that moves several artifacts as one; undefined for a job that moves one. */
export function batchOf(job: Job): ((opening: Opening) => Promise<Batch>) | undefined {
  if (isTagBatch(job)) return (opening) => expandTags(job, opening);
  if (isChartBatch(job)) return (opening) => expandChart(job, opening);
  return undefined;
}
