import type { Job, JobEndpoint } from '#shared/domain';
import {
  type ContentSink,
  type Ends,
  type ImageName,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { isChart, openChartSource } from './chart.ts';
import type { EndpointKind, NamedSource } from './endpoint-kind.ts';
import { oci } from './oci.ts';
import { ociLayout } from './oci-layout.ts';

/** By Endpoint type. Operators add types freely with the template of `oci`, so any other type is a registry. */
const kinds = new Map<string, EndpointKind>([
  ['oci', oci],
  ['helm', { source: openChartSource }],
  ['oci-layout', ociLayout],
]);

/** Opens both ends of a job. Rejects with a TransferError. */
export async function openEnds(job: Job, context: TransferContext): Promise<Ends> {
  const opened = await openSource(job, context);
  return { source: opened.source, destination: await openSink(job, opened.name, context) };
}

/** Opens only the source of a job, and returns the name of its artifact. */
export async function openSource(
  job: Omit<Job, 'destination'>,
  context: TransferContext,
): Promise<NamedSource> {
  const { artifact, source } = job;
  const open = isChart(job) ? openChartSource : (kindOf(source).source ?? refuse(source, 'destination'));
  return open({ ...context, artifact, endpoint: source });
}

/** Opens only the destination of a job, for an artifact with the given name. */
export async function openSink(
  { artifact, destination }: Omit<Job, 'source'>,
  name: ImageName,
  context: TransferContext,
): Promise<ContentSink> {
  const open = kindOf(destination).sink ?? refuse(destination, 'source');
  return open({ ...context, artifact, endpoint: destination }, name);
}

function kindOf({ type }: JobEndpoint): EndpointKind {
  return kinds.get(type) ?? oci;
}

function refuse({ name, type }: JobEndpoint, only: string): never {
  throw new TransferError('config', `Endpoint "${name}" has type "${type}", which can only be a ${only}.`);
}
