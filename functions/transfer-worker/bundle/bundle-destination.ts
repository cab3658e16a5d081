import type { Job } from '#shared/domain';
import { type BundleDestination, formatReference } from '#shared/transfer';
import { openSink, openSource } from '../ends/ends.ts';

/** The destination of a job as the destination of a bundle's artifacts, each under its own name. */
export function bundleDestination(landing: Omit<Job, 'source'>): BundleDestination {
  const { artifact, destination } = landing;
  return {
    sink: (name, context) => openSink(landing, name, context),
    async source(name, context) {
      const wanted = { ...artifact, spec: { image: formatReference(name) } };
      return (await openSource({ artifact: wanted, source: destination }, context)).source;
    },
  };
}
