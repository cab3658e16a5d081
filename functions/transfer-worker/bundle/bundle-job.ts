import { bundleType, type Job } from '#shared/domain';
import type { BatchResult } from '#shared/transfer';
import type { BundleOptions } from './bundle-place.ts';

/** Does a job of which one Endpoint holds bundles; undefined for any other job. */
export function bundleJob(job: Job): ((options: BundleOptions) => Promise<BatchResult>) | undefined {
  // What tars, records and keys are read with is loaded for them alone.
  if (job.destination.type === bundleType)
    return async (options) => (await import('./export-job.ts')).exportJob(job, options);
  if (job.source.type === bundleType)
    return async (options) => (await import('./import-job.ts')).importJob(job, options);
  return undefined;
}
