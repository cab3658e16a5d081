import { bundleType, type Job } from '#shared/domain';
import type { BatchResult } from '#shared/transfer';
import type { BundleOptions } from './bundle-place.ts';

/** Returns a function that runs a job whose source or destination holds bundles; undefined for any other job. */
export function bundleJob(job: Job): ((options: BundleOptions) => Promise<BatchResult>) | undefined {
  // Code for tars, records and keys is loaded on demand.
  if (job.destination.type === bundleType)
    return async (options) => (await import('./export-job.ts')).exportJob(job, options);
  if (job.source.type === bundleType)
    return async (options) => (await import('./import-job.ts')).importJob(job, options);
  return undefined;
}
