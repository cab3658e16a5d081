import { printable } from '#shared/base/errors';
import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import type { Manifest } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { clearsigned, signingKeys } from './openpgp.ts';

/** A chart as Helm stores it in a registry. */
export interface ChartFacts {
  /** Digest of its archive. */
  archive: string | undefined;
  /** The text of its `.prov` file. */
  provenance: string | undefined;
}

const configType = 'application/vnd.cncf.helm.config.v1+json';
/** The second one is of charts that Helm wrote before 3.7. */
const archiveTypes = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip'];
const provenanceType = 'application/vnd.cncf.helm.chart.provenance.v1.prov';
/** It has Chart.yaml and a signature. */
const maxBytes = 1024 * 1024;

/** What is known of the provenance of a chart; undefined for anything else than a chart. Rejects with a TransferError. */
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
 * Why a chart has no provenance by one of `keyrings` (armored OpenPGP keys), as the end of a sentence; undefined if it has, as `helm verify` sees it. Throws a config
 * TransferError for a keyring that cannot be read, or by whose keys nothing can be signed.
 */
export function unsignedChart(
  keyrings: readonly string[] | undefined,
  chart: ChartFacts | undefined,
  nowMs: number,
): string | undefined {
  if (keyrings === undefined || chart === undefined) return undefined;
  const keys = keyrings.flatMap((keyring, index) => keysIn(keyring, `chartSigners[${index}]`));
  if (chart.provenance === undefined) return 'the chart has no provenance (.prov)';
  const signed = read(() => clearsigned(chart.provenance ?? '', keys, nowMs));
  if ('refused' in signed) return `the provenance of the chart does not count: ${signed.refused}`;
  // Chart.yaml, and after the end of that document what the archive is.
  const [, files = ''] = signed.text.split('\n...\n');
  const sums = [...files.matchAll(/^ +\S+: (sha256:[0-9a-f]{64})$/gm)].map(([, sum]) => sum);
  if (files.startsWith('files:\n') && chart.archive !== undefined && sums.includes(chart.archive))
    return undefined;
  return 'the provenance of the chart is about another archive';
}

function read(clear: () => ReturnType<typeof clearsigned>): ReturnType<typeof clearsigned> {
  try {
    return clear();
  } catch (caught) {
    // Whoever makes a chart writes it.
    return { refused: printable(caught instanceof Error ? caught.message : String(caught)) };
  }
}

function keysIn(keyring: string, what: string): ReturnType<typeof signingKeys> {
  let why = 'none of its keys may sign, by an algorithm that is known here';
  try {
    const keys = signingKeys(keyring);
    if (keys.length > 0) return keys;
  } catch (caught) {
    why = caught instanceof Error ? caught.message : String(caught);
  }
  throw new TransferError('config', `The policy has a keyring in ${what} that cannot be used: ${why}.`);
}
