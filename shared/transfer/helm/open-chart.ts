import type { TransferContext } from '../oci/session.ts';
import type { OpenedChart } from './chart-content.ts';
import type { ChartLocation } from './chart-repository.ts';

/**
 * Opens a chart: one of a repository with an index is downloaded, checked, and becomes the image that `helm push` would make; one in a
 * registry is copied as it is. Rejects with a TransferError.
 */
export async function openChart(location: ChartLocation, context: TransferContext): Promise<OpenedChart> {
  // What reads YAML, versions and archives is loaded for charts alone: most workers move none.
  const { openIndexedChart, openRegistryChart } = await import('./chart-content.ts');
  return location.indexed ? openIndexedChart(location, context) : openRegistryChart(location, context);
}
