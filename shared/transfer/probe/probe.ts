import { createMasker, type Masker } from '#shared/base/errors';
import { isAnywhere } from '#shared/domain/address';
import { createAuthorizer } from '../auth/authorizer.ts';
import { createTokenService } from '../auth/token-service.ts';
import {
  credentialsFor,
  type EndpointCredentials,
  secretsOf,
  secretsOfEndpoint,
} from '../credentials/credentials.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { AddressGuard } from '../http/address-guard.ts';
import { readBody } from '../http/body.ts';
import { certificateRefusal } from '../http/client-certificate.ts';
import { mayIdentifyAt } from '../http/reach.ts';
import { resolveAddress, s3Place, type TlsSettings } from '../reference/address.ts';
import type { AuthenticatedReason, Finding, ReachableReason } from './finding.ts';
import { createProbeClient, type ProbeClient } from './probe-client.ts';
import { bucketRegion, getInRegion, s3KeysFinding } from './s3-bucket.ts';
import { unreachable } from './unreachable.ts';
import { withoutCredentials } from './without-credentials.ts';

export interface ProbeRequest {
  /** The name of the Endpoint, for messages. */
  name: string;
  type: string;
  remoteURL: string;
  tls?: TlsSettings;
  credentials?: EndpointCredentials;
  /** Hosts of its token service that also receive the credentials. */
  tokenHosts?: readonly string[];
  guard: AddressGuard;
  signal: AbortSignal;
}

export interface ProbeResult {
  reachable: Finding<ReachableReason>;
  authenticated: Finding<AuthenticatedReason>;
  /** The expiry of the server's certificate. */
  certificateExpiry?: Date;
}

/** Deadline of all requests of a probe together. */
const deadlineMs = 10_000;
const refusalLimit = 16 * 1024;

/**
 * Probes whether a server is reachable and accepts the credentials: one small GET, and after a challenge at most a token request and a second
 * GET. No redirect is followed, except to the region of an AWS bucket. Credentials are sent only after a challenge and over TLS. Never rejects.
 */
export async function probeServer(request: ProbeRequest): Promise<ProbeResult> {
  const { name, type, remoteURL, tls = {}, tokenHosts = [], guard } = request;
  const masker = createMasker();
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(deadlineMs)]);
  try {
    const url = targetOf(request);
    if (url === undefined && type === 'bundle' && /^file:/i.test(remoteURL))
      return notProbed(
        'Unknown',
        'NotProbed',
        'a folder of the volume arc-bundles is visible only to workers',
      );
    if (url === undefined)
      return notProbed('Unknown', 'UnsupportedScheme', `the scheme of ${remoteURL} is not supported`);
    const client = createProbeClient(tls, guard, mayIdentifyAt(url.origin, tokenHosts));
    const at = (place: URL) => new Probe(name, client, place, signal);
    const { url: found, answer: first } = await getInRegion(remoteURL, url, (place) => at(place).get());
    const probe = at(found);
    const expiry = client.certificateExpiry(found.host);
    return {
      reachable: reachableBy(first.status, found),
      authenticated: await authenticated(request, probe, first, masker),
      ...(expiry === undefined ? {} : { certificateExpiry: expiry }),
    };
  } catch (caught) {
    const { reason, message } = unreachable(caught, name, remoteURL);
    return notProbed('False', reason, masker.apply(message));
  }
}

function notProbed(status: 'False' | 'Unknown', reason: ReachableReason, message: string): ProbeResult {
  const unasked = 'no credentials were sent: the server was not reached';
  return {
    reachable: { status, reason, message },
    authenticated: { status: 'Unknown', reason: 'NotExercised', message: unasked },
  };
}

/** The URL to probe: the version check of a registry, the index of a Helm repository, a bucket in the region of its keys, else the URL itself. */
function targetOf({ type, remoteURL, tls = {}, credentials }: ProbeRequest): URL | undefined {
  if (type === 'oci') return new URL('/v2/', resolveAddress(remoteURL, 'probe', tls).origin);
  const scheme = tls.plainHTTP === true ? 'http' : 'https';
  if ((type === 's3' || type === 'bundle') && isAnywhere(remoteURL))
    return s3Place(remoteURL, 'probe', tls, regionOf(credentials)).bucketURL;
  const text = remoteURL.includes('://') ? remoteURL : `${scheme}://${remoteURL}`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return type === 'helm' ? new URL(`${text.replace(/\/+$/, '')}/index.yaml`) : new URL(text);
}

function regionOf(credentials: EndpointCredentials | undefined): string | undefined {
  return credentials && 'accessKeyID' in credentials ? credentials.region : undefined;
}

interface Answer {
  status: number;
  challenge: string | undefined;
  /** Explains a rejected client certificate. */
  refusal: string | undefined;
  fromPublic: boolean;
  /** The region of the bucket, as reported by a storage. */
  region: string | undefined;
}

class Probe {
  readonly endpoint: string;
  readonly client: ProbeClient;
  readonly url: URL;
  readonly signal: AbortSignal;

  constructor(endpoint: string, client: ProbeClient, url: URL, signal: AbortSignal) {
    this.endpoint = endpoint;
    this.client = client;
    this.url = url;
    this.signal = signal;
  }

  async get(authorization?: string): Promise<Answer> {
    const headers = {
      'user-agent': 'arc-probe-endpoint',
      connection: 'close',
      ...(authorization === undefined ? {} : { authorization }),
    };
    const { client, url, signal } = this;
    const answer = await client.send({ method: 'GET', url, headers, signal });
    const { status, headers: answered, body, fromPublic } = answer;
    const text = status === 400 ? await readBody(body, refusalLimit) : undefined;
    // The rest of the body is not needed.
    body.destroy();
    const refusal = certificateRefusal(status, text, this.endpoint);
    return {
      status,
      challenge: answered['www-authenticate'],
      refusal,
      fromPublic,
      region: bucketRegion(answered),
    };
  }
}

function reachableBy(status: number, url: URL): Finding<ReachableReason> {
  const { host } = url;
  if (status === 404)
    return {
      status: 'Unknown',
      reason: 'NotFound',
      message: `${host} responds, but has no ${url.pathname}: check remoteURL`,
    };
  if (status >= 500)
    return {
      status: 'Unknown',
      reason: 'ServerError',
      message: `${host} responds with ${status}: the server has an internal problem`,
    };
  return { status: 'True', reason: 'Reachable', message: `${host} responds` };
}

async function authenticated(
  request: ProbeRequest,
  probe: Probe,
  first: Answer,
  masker: Masker,
): Promise<Finding<AuthenticatedReason>> {
  const { name, credentials: given } = request;
  const { host, protocol } = probe.url;
  if (first.refusal !== undefined)
    return { status: 'False', reason: 'Unauthorized', message: `${host}: ${first.refusal}` };
  if (first.status !== 401 && first.status !== 403)
    return { status: 'Unknown', reason: 'NotExercised', message: `${host} did not require credentials` };
  if (given !== undefined && 'accessKeyID' in given) {
    for (const secret of secretsOfEndpoint(given)) masker.add(secret);
    const keys = { ...given, ...(first.region !== undefined && { region: first.region }) };
    return s3KeysFinding(keys, name, probe.client, probe.url, probe.signal);
  }
  const credentials = credentialsFor(given, host, '');
  for (const secret of secretsOf(credentials)) masker.add(secret);
  if (credentials.kind !== 'none' && protocol !== 'https:') {
    const message = `the credentials were not tested: ${host} is probed without TLS, and credentials are sent over TLS only`;
    return { status: 'Unknown', reason: 'InsecureTransport', message };
  }
  const second = await answerWith(credentials, request, probe, first, masker);
  return typeof second === 'number' ? credentialsFinding(second, credentials, request, probe.url) : second;
}

/** The status of a request with the credentials, or the finding if it could not be made. */
async function answerWith(
  credentials: RegistryCredentials,
  { name, tokenHosts = [] }: ProbeRequest,
  probe: Probe,
  first: Answer,
  masker: Masker,
): Promise<number | Finding<AuthenticatedReason>> {
  const { url, client, signal } = probe;
  const context = {
    endpoint: name,
    host: url.host,
    place: '',
    credentials,
    activity: 'probing',
    writing: false,
  };
  const tokens = createTokenService({ client, credentials, origin: url.origin, tokenHosts, context, masker });
  const authorizer = createAuthorizer(credentials, tokens);
  const another = authorizer.challenged(first.challenge, [], undefined, first.fromPublic);
  try {
    const header = another || credentials.kind === 'token' ? await authorizer.header([], signal) : undefined;
    if (header !== undefined) return (await probe.get(header)).status;
  } catch (caught) {
    if (caught instanceof TransferError && (caught.reason === 'auth' || caught.reason === 'denied'))
      return 401;
    const message = masker.apply(caught instanceof Error ? caught.message : String(caught));
    return { status: 'Unknown', reason: 'Inconclusive', message };
  }
  if (credentials.kind === 'none') return first.status;
  const asked = first.challenge?.split(' ', 1)[0] ?? 'an unknown scheme';
  const message = `${url.host} requires ${asked}, which these credentials do not support`;
  return { status: 'Unknown', reason: 'UnsupportedAuthScheme', message };
}

function credentialsFinding(
  status: number,
  { kind }: RegistryCredentials,
  request: ProbeRequest,
  url: URL,
): Finding<AuthenticatedReason> {
  const { name } = request;
  const { host } = url;
  const refused = status === 401 || status === 403;
  if (!refused && status >= 500)
    return {
      status: 'Unknown',
      reason: 'Inconclusive',
      message: `${host} answered ${status} to the credentials`,
    };
  if (kind === 'none')
    return refused
      ? withoutCredentials(request, url)
      : {
          status: 'Unknown',
          reason: 'Anonymous',
          message: `${host} allows anonymous access to public content`,
        };
  return refused
    ? {
        status: 'False',
        reason: 'Unauthorized',
        message: `${host} refused the credentials (${status}): check the Secret of Endpoint "${name}"`,
      }
    : { status: 'True', reason: 'Authenticated', message: `${host} accepted the credentials` };
}
