import type { Job } from '#shared/domain';
import { type ImageName, type OpenedChart, openChart, TransferError } from '#shared/transfer';
import { connection, type EndOpening, isIndexed } from './endpoint-kind.ts';

/** An opened chart, and how it is called at a registry: `<repo>/<chart>:<version>`. */
export interface NamedChart extends OpenedChart {
  name: ImageName;
}

/**
 * True for an artifact that is a Helm chart. Throws a config TransferError for one that names an image as well: a type that pins the image
 * would have a chart moved in its place.
 */
export function isChart({ artifact: { spec } }: Pick<Job, 'artifact'>): boolean {
  if (spec.chart === undefined) return false;
  if (spec.image === undefined) return true;
  throw new TransferError(
    'config',
    'spec.chart and spec.image name two artifacts: leave one of them out, or move them as two.',
  );
}

/**
 * Opens the chart that `spec.chart`, `spec.version` and `spec.repo` name: of an Endpoint of type `helm` by its index.yaml, of any other, and
 * where remoteURL begins with `oci://`, as an image of the registry. Rejects with a TransferError.
 */
export async function openChartSource({ artifact, endpoint, ...context }: EndOpening): Promise<NamedChart> {
  const chart = textOf(artifact, 'chart') ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(chart)) {
    const example = 'such as "cert-manager"; the path to it in a registry belongs into spec.repo';
    throw new TransferError('config', `spec.chart must be the name of a chart, ${example}.`);
  }
  const repo = textOf(artifact, 'repo')?.replace(/^\/+|\/+$/g, '') || undefined;
  const version = textOf(artifact, 'version');
  const location = { ...connection(endpoint), repo, chart, version, indexed: isIndexed(endpoint) };
  const opened = await openChart(location, context);
  return {
    ...opened,
    name: { repository: repo === undefined ? chart : `${repo}/${chart}`, tag: opened.tag },
  };
}

function textOf({ spec }: Job['artifact'], field: string): string | undefined {
  const value = spec[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value.trim();
  throw new TransferError('config', `spec.${field} must be a string.`);
}
