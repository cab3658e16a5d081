import type { ContentSource } from '../content/content.ts';
import type { ImageLocation } from '../oci/session.ts';
import type { ChartImages } from './chart-images.ts';

/** A Helm chart at an Endpoint. */
export interface ChartLocation extends Omit<ImageLocation, 'image'> {
  /** Its repository below a registry, such as `charts`; not used for one with an index. */
  repo: string | undefined;
  chart: string;
  /** A version or a range; undefined: the newest that is no prerelease. */
  version: string | undefined;
  /** True for a chart repository with an index.yaml, false for a registry. */
  indexed: boolean;
}

/** A chart to copy. */
export interface OpenedChart {
  source: ContentSource;
  /** Its version, as a tag. */
  tag: string;
  /** The images that it names, with `overrides` merged over its values. Rejects with a TransferError. */
  images(overrides: Readonly<Record<string, unknown>>): Promise<ChartImages>;
}
