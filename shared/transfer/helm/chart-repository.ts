import { secretsOfEndpoint } from '../credentials/credentials.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Session } from '../oci/session.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import type { ChartLocation } from './chart.ts';
import { createDownloader, type Download, type Downloader } from './download.ts';
import { chartEntries, type IndexedChart, indexedChart, maxIndexBytes } from './index-file.ts';
import { selectVersion } from './select-version.ts';

/** A chart as it was downloaded. */
export interface DownloadedChart {
  tgz: Buffer;
  /** The signature beside it, if there is one. */
  provenance: Buffer | undefined;
  version: string;
  warnings: string[];
}

/** Far beyond any chart: Helm unpacks no more than 100 MiB. */
export const maxArchiveBytes = 64 * 1024 * 1024;
const maxProvenanceBytes = 1024 * 1024;
const signed = '-----BEGIN PGP SIGNED MESSAGE-----';

/**
 * Chooses a version by the index of a chart repository and downloads its archive, whose digest is checked if the index has one. Credentials
 * go to the server of the index, and to others with charts only if `tokenHosts` names them. Rejects with a TransferError.
 */
export async function downloadChart(
  location: ChartLocation,
  session: Session,
  signal: AbortSignal,
): Promise<DownloadedChart> {
  const { chart, remoteURL, tls = {}, credentials, tokenHosts = [] } = location;
  for (const secret of secretsOfEndpoint(credentials)) session.masker.add(secret);
  const indexURL = indexOf(remoteURL, tls);
  const isTrusted = (url: URL) =>
    url.origin === indexURL.origin || tokenHosts.includes(url.host) || tokenHosts.includes(url.hostname);
  const download = createDownloader({
    endpoint: location.name,
    tls,
    session,
    credentialsOf: (url) => (isTrusted(url) ? credentials : undefined),
  });
  const load = async (what: Download) => (await download(what, signal)) ?? Buffer.alloc(0);
  const label = `of ${indexURL.host}`;
  const index = await load({ url: indexURL, what: `index ${indexURL.href}`, maxBytes: maxIndexBytes });
  const entry = selectVersion(
    await chartEntries(index, chart, label),
    location.version,
    `chart ${chart} ${label}`,
  );
  const indexed = await indexedChart(entry, chart, label);
  const url = archiveURL(indexed, indexURL, label);
  const expected = indexed.digest === undefined ? {} : { expected: `sha256:${indexed.digest}` };
  const tgz = await load({
    url,
    what: `chart ${chart} ${entry.version}`,
    maxBytes: maxArchiveBytes,
    ...expected,
  });
  const { provenance, warnings } = await downloadProvenance(url, download, signal);
  if (entry.deprecated)
    warnings.push(`Version ${entry.version} of chart ${chart} is deprecated by its publisher`);
  return { tgz, provenance, version: entry.version, warnings };
}

/** Relative to the index, whose query it keeps, as Helm does: some servers want a token there. */
function archiveURL({ url, name, version, digest }: IndexedChart, indexURL: URL, label: string): URL {
  const base = new URL('./', indexURL);
  const target = URL.parse(url, base.href);
  const refuse = (why: string): never => {
    throw new TransferError(
      'permanent',
      `The index ${label} has a URL for chart ${name} ${version} that cannot be used: ${why}.`,
    );
  };
  if (target === null) return refuse('it is not a URL');
  if (target.protocol !== 'https:' && target.protocol !== 'http:')
    return refuse(
      `its scheme is ${target.protocol.slice(0, -1)}${target.protocol === 'oci:' ? '; use an Endpoint of type oci for it' : ''}`,
    );
  if (target.username !== '' || target.password !== '') return refuse('it contains credentials');
  if (target.protocol === 'http:' && indexURL.protocol === 'https:' && digest === undefined)
    return refuse('it is not https, and the index has no digest to check the chart with');
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) target.search = indexURL.search;
  return target;
}

interface Provenance {
  provenance: Buffer | undefined;
  warnings: string[];
}

/** The file `<archive>.prov`, which only signed charts have. Some servers answer with a page where there is none. */
async function downloadProvenance(
  archive: URL,
  download: Downloader,
  signal: AbortSignal,
): Promise<Provenance> {
  const url = new URL(archive);
  url.pathname += '.prov';
  const bytes = await download(
    { url, what: 'signature of the chart', maxBytes: maxProvenanceBytes, optional: true },
    signal,
  );
  if (bytes === undefined || bytes.toString('latin1', 0, signed.length) === signed)
    return { provenance: bytes, warnings: [] };
  const warning = `${url.host} answers with something else than a signature where that of the chart would be (.prov)`;
  return { provenance: undefined, warnings: [warning] };
}

/** The URL of index.yaml below `remoteURL`, whose query it keeps. Throws a config TransferError. */
function indexOf(remoteURL: string, tls: TlsSettings): URL {
  const scheme = tls.plainHTTP === true ? 'http' : 'https';
  const url = URL.parse(remoteURL.includes('://') ? remoteURL.trim() : `${scheme}://${remoteURL.trim()}`);
  const shown = `The Endpoint's remoteURL "${remoteURL.slice(0, 300)}" cannot be used`;
  if (url === null)
    throw new TransferError('config', `${shown}: it must have the form https://host[:port][/prefix].`);
  if (url.username !== '' || url.password !== '')
    throw new TransferError(
      'config',
      "The Endpoint's remoteURL contains credentials: move them into a Secret and name the Secret in spec.secretRef.",
    );
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TransferError('config', `${shown}: its scheme must be https, http or, for a registry, oci.`);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/index.yaml`;
  url.hash = '';
  return url;
}
