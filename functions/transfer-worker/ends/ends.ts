import type { Job, JobEndpoint } from '#shared/domain';
import { type Ends, type Opening, TransferError } from '#shared/transfer';
import { isChart, openChartSource } from './chart.ts';
import type { EndpointKind } from './endpoint-kind.ts';
import { oci } from './oci.ts';
import { ociLayout } from './oci-layout.ts';

/** By the Endpoint's type. Operators name types freely together with the template of `oci`, so any other type is one of a registry. */
const kinds = new Map<string, EndpointKind>([
  ['oci', oci],
  ['helm', { source: openChartSource }],
  ['oci-layout', ociLayout],
]);

/** Opens both ends of a job. Rejects with a TransferError. */
export async function openEnds(job: Job, opening: Opening): Promise<Ends> {
  const { artifact, source, destination } = job;
  const openSource = isChart(job)
    ? openChartSource
    : (kindOf(source).source ?? refuse(source, 'destination'));
  const openSink = kindOf(destination).sink ?? refuse(destination, 'source');
  const opened = await openSource({ ...opening, artifact, endpoint: source });
  const sink = await openSink({ ...opening, artifact, endpoint: destination }, opened.name);
  return { source: opened.source, destination: sink };
}

function kindOf({ type }: JobEndpoint): EndpointKind {
  return kinds.get(type) ?? oci;
}

function refuse({ name, type }: JobEndpoint, only: string): never {
  throw new TransferError('config', `Endpoint "${name}" has type "${type}", which can only be a ${only}.`);
}
