import { printable } from '#shared/base/errors';
import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import type { Manifest } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { signingKeys, verifyClearsigned } from './openpgp.ts';

/** A Helm chart as stored in a registry. */
export interface ChartFacts {
  /** Digest of the chart archive. */
  archive: string | undefined;
  /** The text of the `.prov` file. */
  provenance: string | undefined;
}

const configType = 'application/vnd.cncf.helm.config.v1+json';
/** Helm wrote the second media type before version 3.7. */
const archiveTypes = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip'];
const provenanceType = 'application/vnd.cncf.helm.chart.provenance.v1.prov';
/** A provenance file holds Chart.yaml and a signature. */
const maxBytes = 1024 * 1024;

/** Reads the provenance of a chart; undefined if the manifest is not a chart. Rejects with a TransferError. */
export async function chartFacts(
  { blobs }: Manifest,
  { source, retry, signal }: { source: ContentSource; retry: RetryPolicy; signal: AbortSignal },
): Promise<ChartFacts | undefined> {
  if (blobs[0]?.mediaType !== configType) return undefined;
  const archive = blobs.find(({ mediaType }) => archiveTypes.includes(mediaType))?.digest;
  const blob = blobs.find(({ mediaType, size }) => mediaType === provenanceType && size <= maxBytes);
  const content = blob && (await readBlob({ source, blob, retry }, signal));
  return { archive, provenance: content?.toString('utf8') };
}

/**
 * Verifies a chart's provenance against `keyrings` (armored OpenPGP keys), as `helm verify` does. Returns why it fails, as the end of a
 * sentence; undefined if it is valid. Throws a config TransferError for an unusable keyring.
 */
export function unsignedChart(
  keyrings: readonly string[] | undefined,
  chart: ChartFacts | undefined,
  nowMs: number,
): string | undefined {
  if (keyrings === undefined || chart === undefined) return undefined;
  const keys = keyrings.flatMap((keyring, index) => keysIn(keyring, `chartSigners[${index}]`));
  if (chart.provenance === undefined) return 'the chart has no provenance (.prov)';
  const signed = read(() => verifyClearsigned(chart.provenance ?? '', keys, nowMs));
  if ('refused' in signed) return `the provenance of the chart is not valid: ${signed.refused}`;
  // Chart.yaml, then the document separator and the digests of the archive.
  const [, files = ''] = signed.text.split('\n...\n');
  const sums = [...files.matchAll(/^ +\S+: (sha256:[0-9a-f]{64})$/gm)].map(([, sum]) => sum);
  if (files.startsWith('files:\n') && chart.archive !== undefined && sums.includes(chart.archive))
    return undefined;
  return 'the provenance of the chart is for another archive';
}

function read(clear: () => ReturnType<typeof verifyClearsigned>): ReturnType<typeof verifyClearsigned> {
  try {
    return clear();
  } catch (caught) {
    // The parser's message may quote the chart's content.
    return { refused: printable(caught instanceof Error ? caught.message : String(caught)) };
  }
}

function keysIn(keyring: string, what: string): ReturnType<typeof signingKeys> {
  let why = 'none of its keys may sign with a supported algorithm';
  try {
    const keys = signingKeys(keyring);
    if (keys.length > 0) return keys;
  } catch (caught) {
    why = caught instanceof Error ? caught.message : String(caught);
  }
  throw new TransferError('config', `The keyring in ${what} of the policy cannot be used: ${why}.`);
}
