import type { TransferContext } from '../oci/session.ts';
import type { OpenedChart } from './chart-content.ts';
import type { ChartLocation } from './chart-repository.ts';

/**
 * Opens a chart: in a repository with an index it is downloaded, verified and converted to the image of `helm push`; in a registry it is
 * copied unchanged. Rejects with a TransferError.
 */
export async function openChart(location: ChartLocation, context: TransferContext): Promise<OpenedChart> {
  // Parsers for YAML, versions and archives are loaded on demand: most transfers move no charts.
  const { openIndexedChart, openRegistryChart } = await import('./chart-content.ts');
  return location.indexed ? openIndexedChart(location, context) : openRegistryChart(location, context);
}
