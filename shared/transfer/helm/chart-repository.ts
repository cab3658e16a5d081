import { accountOf } from '../credentials/account.ts';
import { credentialsFor, type EndpointCredentials, secretsOfEndpoint } from '../credentials/credentials.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readFile } from '../files/read-file.ts';
import { createWebAuth } from '../files/web-auth.ts';
import { createReach } from '../http/reach.ts';
import type { ImageLocation, Session } from '../oci/session.ts';
import { fileURL } from '../reference/address.ts';
import { createFileServer, type FileServer } from '../servers/file-server.ts';
import { webFile } from '../servers/web-file.ts';
import { chartEntries, type IndexedChart, indexedChart, maxIndexBytes } from './index-file.ts';
import { selectVersion } from './select-version.ts';

/** A Helm chart at an Endpoint. */
export interface ChartLocation extends Omit<ImageLocation, 'image'> {
  /** The repository below a registry, such as `charts`; unused with an index. */
  repo: string | undefined;
  chart: string;
  /** A version or a range; undefined for the newest release. */
  version: string | undefined;
  /** True for a chart repository with an index.yaml, false for a registry. */
  indexed: boolean;
}

/** A downloaded chart. */
export interface DownloadedChart {
  tgz: Buffer;
  /** Its `.prov` file, if there is one. */
  provenance: Buffer | undefined;
  version: string;
  warnings: string[];
}

/** Far beyond any chart: Helm unpacks no more than 100 MiB. */
export const maxArchiveBytes = 64 * 1024 * 1024;
const signed = '-----BEGIN PGP SIGNED MESSAGE-----';

/**
 * Selects a version from the index of a chart repository and downloads its archive, verifying the digest if the index has one. Credentials are
 * sent to the server of the index, and to other servers only if `tokenHosts` lists them. Rejects with a TransferError.
 */
export async function downloadChart(
  location: ChartLocation,
  session: Session,
  signal: AbortSignal,
): Promise<DownloadedChart> {
  const { chart, remoteURL, tls, credentials } = location;
  for (const secret of secretsOfEndpoint(credentials)) session.masker.add(secret);
  const serverOf = servers(location, session);
  const indexURL = fileURL(remoteURL, 'index.yaml', tls);
  const label = `of ${indexURL.host}`;
  const asked = { url: indexURL, what: `index ${indexURL.href}`, maxBytes: maxIndexBytes };
  const indexServer = trackQuotable(serverOf(indexURL));
  const index = await download(asked, indexServer.send, session, signal);
  const { entry, indexed } = await selectEntry(index, location, label).catch((caught: unknown) => {
    if (indexServer.isQuotable()) throw caught;
    const why = 'its server redirected to another server, which has no such chart or version';
    throw new TransferError('permanent', `The index ${label} cannot be used: ${why}.`);
  });
  const url = archiveURL(indexed, indexURL, label);
  const expected = indexed.digest === undefined ? {} : { expected: `sha256:${indexed.digest}` };
  const archive = { url, what: `chart ${chart} ${entry.version}`, maxBytes: maxArchiveBytes, ...expected };
  const tgz = await download(archive, serverOf(url), session, signal);
  const { provenance, warnings } = await downloadProvenance(url, serverOf(url), signal);
  if (entry.deprecated)
    warnings.push(`Version ${entry.version} of chart ${chart} is deprecated by its publisher`);
  return { tgz, provenance, version: entry.version, warnings };
}

async function selectEntry(index: Buffer, { chart, version }: ChartLocation, label: string) {
  const entry = selectVersion(await chartEntries(index, chart, label), version, `chart ${chart} ${label}`);
  return { entry, indexed: await indexedChart(entry, chart, label) };
}

/** Wraps a server and records whether all responses came from the server itself. */
function trackQuotable(server: FileServer): { send: FileServer; isQuotable: () => boolean } {
  let quotable = true;
  return {
    isQuotable: () => quotable,
    async send(request, signal) {
      const answer = await server(request, signal);
      quotable &&= answer.quotable;
      return answer;
    },
  };
}

/** Resolves the archive's URL relative to the index and keeps the query of the index, as Helm does: some servers require a token there. */
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

interface Download {
  url: URL;
  what: string;
  maxBytes: number;
  expected?: string;
}

async function download(
  { url, what, maxBytes, expected }: Download,
  send: FileServer,
  { retry }: Session,
  signal: AbortSignal,
): Promise<Buffer> {
  const source = webFile(send, url, `${what} of server ${url.host}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of readFile({ source, expected, maxBytes, retry }, signal))
    chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

interface Provenance {
  provenance: Buffer | undefined;
  warnings: string[];
}

/** Downloads `<archive>.prov`, which only signed charts have. Some servers answer 403, or with a page, if it is missing. */
async function downloadProvenance(archive: URL, send: FileServer, signal: AbortSignal): Promise<Provenance> {
  const url = new URL(archive);
  url.pathname += '.prov';
  const activity = `looking for ${url.pathname}`;
  const { status, bytes } = await send(
    { method: 'GET', url, expect: [200, 403, 404, 410], activity },
    signal,
  );
  if (status !== 200) return { provenance: undefined, warnings: [] };
  if (bytes.toString('latin1', 0, signed.length) === signed) return { provenance: bytes, warnings: [] };
  const warning = `${url.host} serves something other than a signature as the provenance (.prov) of the chart`;
  return { provenance: undefined, warnings: [warning] };
}

/** Returns one client per origin, for the index and for archives on other servers. */
function servers(
  { name, remoteURL, tls = {}, credentials, tokenHosts = [], redirectHosts = [] }: ChartLocation,
  session: Session,
) {
  const own = fileURL(remoteURL, 'index.yaml', tls).origin;
  const client = session.client(tls, own, tokenHosts);
  // Charts are often stored on release pages and object stores, which redirect to hosts with changing names.
  const reach = createReach({ endpoint: name, origin: () => new URL(own), redirectHosts, tokenHosts });
  const known = new Map<string, FileServer>();
  return ({ origin: text, host }: URL): FileServer => {
    const existing = known.get(text);
    if (existing) return existing;
    const origin = new URL(text);
    const isTrusted = reach.access(origin).credentials;
    const shown = isTrusted ? webCredentials(credentials, host) : undefined;
    const server = createFileServer({
      endpoint: name,
      origin,
      client,
      limiter: session.limiter(text, accountOf(shown, isTrusted ? tls : {})),
      retry: session.retry,
      signer: createWebAuth({
        endpoint: name,
        origin,
        tls,
        credentials: shown,
      }),
      redirectHosts,
      reach,
    });
    known.set(text, server);
    return server;
  };
}

/** The credentials for a web server from a docker config, if any: the same Secret also serves the registries of a chart's images. */
function webCredentials(
  given: EndpointCredentials | undefined,
  host: string,
): EndpointCredentials | undefined {
  if (given === undefined || !('dockerConfigJson' in given)) return given;
  const found = credentialsFor(given, host, '');
  if (found.kind === 'none') return undefined;
  return found.kind === 'basic'
    ? { username: found.username, password: found.password }
    : { token: found.token };
}
