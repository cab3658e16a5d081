import type { Job } from '#shared/domain';
import { type ImageName, type OpenedChart, openChart, TransferError } from '#shared/transfer';
import { connection, type EndOpening, isIndexed } from './endpoint-kind.ts';

/** An opened chart, with its name in a registry: `<repo>/<chart>:<version>`. */
export interface NamedChart extends OpenedChart {
  name: ImageName;
}

/**
 * True for an artifact that is a Helm chart. Throws a config TransferError if the artifact also names an image: a type that pins the image would
 * move the chart instead.
 */
export function isChart({ artifact: { spec } }: Pick<Job, 'artifact'>): boolean {
  if (spec.chart === undefined) return false;
  if (spec.image === undefined) return true;
  throw new TransferError(
    'config',
    'spec.chart and spec.image name two artifacts: remove one of them, or order them separately.',
  );
}

/**
 * Opens the chart of `spec.chart`, `spec.version` and `spec.repo`: from index.yaml of an Endpoint of type `helm`; from a registry for any other
 * type, or if remoteURL begins with `oci://`. Rejects with a TransferError.
 */
export async function openChartSource({ artifact, endpoint, ...context }: EndOpening): Promise<NamedChart> {
  const chart = textOf(artifact, 'chart') ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(chart)) {
    const example = 'such as "cert-manager"; the path to it in a registry belongs in spec.repo';
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
