import type { IncomingHttpHeaders } from 'node:http';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { type FailureReason, TransferError } from '../errors/transfer-error.ts';
import { parseRetryAfter } from './retry.ts';

/** Who was asked for what: every message names it. */
export interface Asking {
  /** Name of the Endpoint. */
  endpoint: string;
  host: string;
  repository: string;
  credentials: RegistryCredentials;
  /** What was being done, as in "reading manifest 1.0". */
  doing: string;
  /** True if the request needed the right to write. */
  writing: boolean;
  /** The host that the registry redirected to, if it was that one which was asked last. */
  elsewhere?: string | undefined;
}

/** "Registry x", with the host it redirected to where that one is meant. */
function who({ host, elsewhere }: Asking): string {
  return elsewhere === undefined ? `Registry ${host}` : `${elsewhere}, which registry ${host} redirects to,`;
}

const longestQuote = 300;
const mostErrors = 3;

function words({ code, message, detail }: { code?: unknown; message?: unknown; detail?: unknown }): string {
  const said = [code, message].filter((word) => typeof word === 'string' && word !== '').join(': ');
  return typeof detail === 'string' && detail !== '' ? `${said} (${detail})` : said;
}

/** The errors of an OCI error body (`{"errors":[{code,message,detail}]}`), cut and in one line; '' if there are none. */
export function registryWords(body: Buffer | undefined): string {
  if (!body || body.length === 0) return '';
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const errors = (parsed as { errors?: unknown } | null)?.errors;
    const objects = (Array.isArray(errors) ? errors : []).filter(
      (error) => typeof error === 'object' && error !== null,
    );
    const distinct = [...new Set(objects.slice(0, mostErrors).map(words))].filter((each) => each !== '');
    // What is no printable text could change what a terminal shows.
    const quoted = distinct.join('; ').replace(/[\s\p{C}]+/gu, ' ');
    return quoted === '' ? '' : ` The registry says: ${quoted.slice(0, longestQuote)}.`;
  } catch {
    // Not JSON: proxies answer with HTML, which helps nobody.
    return '';
  }
}

function unauthorized(asking: Asking): string {
  const { credentials, endpoint } = asking;
  if (credentials.kind === 'none') {
    const hint = credentials.hint === undefined ? 'it names no Secret (spec.secretRef)' : credentials.hint;
    return `it asks for credentials and Endpoint "${endpoint}" has none: ${hint}`;
  }
  const who = credentials.kind === 'basic' ? `of user "${credentials.username}"` : '(a token)';
  const right = asking.writing ? 'push to' : 'pull from';
  return `it refused the credentials ${who}: check the Secret of Endpoint "${endpoint}", and that the account may ${right} the repository`;
}

function advice(status: number, asking: Asking): { reason: FailureReason; text: string } {
  const right = asking.writing ? 'push to' : 'pull from';
  if (status === 401) return { reason: 'auth', text: unauthorized(asking) };
  if (status === 403) {
    return {
      reason: 'denied',
      text: `the account may not ${right} this repository: have that right granted there`,
    };
  }
  if (status === 404) {
    const access =
      asking.credentials.kind === 'none'
        ? '; a private repository can look like this without credentials'
        : '';
    return {
      reason: 'permanent',
      text: `it is not there: check repository, tag and Endpoint "${asking.endpoint}"${access}`,
    };
  }
  if (status === 429)
    return {
      reason: 'retryable',
      text: "it limits how often it may be asked: try later, or raise the account's limit",
    };
  if (status === 408 || status >= 500)
    return { reason: 'retryable', text: 'the registry has a problem of its own: try again later' };
  if (status === 407) {
    return {
      reason: 'config',
      text: 'that is the proxy on the way, which asks for credentials: check HTTP_PROXY of the worker',
    };
  }
  if (status === 413)
    return {
      reason: 'permanent',
      text: 'it takes no content of this size: raise the limit of the registry or the proxy before it',
    };
  return { reason: 'permanent', text: 'it does not accept the request' };
}

/** A redirect that leads nowhere, and a store of blobs that does not take the address which the registry made for it. */
function redirected(
  status: number,
  asking: Asking,
  location: string | undefined,
): { reason: FailureReason; text: string } | undefined {
  if (status >= 300 && status < 400) {
    const there =
      location !== undefined && URL.canParse(location)
        ? ` to ${new URL(location).protocol}//${new URL(location).host}`
        : '';
    const text = `it redirects${there} in a way that cannot be followed: write the address that answers into remoteURL of Endpoint "${asking.endpoint}"`;
    return { reason: 'permanent', text };
  }
  if (asking.elsewhere === undefined || (status !== 401 && status !== 403)) return undefined;
  return {
    reason: 'retryable',
    text: 'it does not accept the address that the registry gave, and gets no credentials: check the clock and the storage of the registry',
  };
}

/** The failure for an answer that was not expected. `body` is what was read of it, if anything. */
export function statusFailure(
  asking: Asking,
  status: number,
  headers: IncomingHttpHeaders,
  body?: Buffer,
): TransferError {
  const { reason, text } = redirected(status, asking, headers.location) ?? advice(status, asking);
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  const where = `${who(asking)} answered ${status} while ${asking.doing} in repository ${asking.repository}`;
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new TransferError(reason, `${where}: ${text}.${registryWords(body)}`, options);
}

const certificateProblem = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/;
const clientCertificate = /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)/;
const oldProtocol = /alert protocol version|unsupported protocol/i;

function tlsAdvice(code: string, detail: string, { endpoint }: Asking): string | undefined {
  if (clientCertificate.test(code))
    return `it ended the TLS handshake (${code}), as servers do that want a client certificate, which Endpoints cannot have`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is for another name (${detail.slice(0, 300)}): write that name into remoteURL of Endpoint "${endpoint}", or have a certificate issued for this one`;
  if (code === 'CERT_HAS_EXPIRED')
    return `its certificate, or one that issued it, has expired (${code}): have it renewed`;
  if (code === 'CERT_NOT_YET_VALID')
    return `its certificate is not valid yet (${code}): check the clocks of both machines`;
  if (oldProtocol.test(detail)) return `it speaks no TLS of version 1.2 or later (${code}): have it updated`;
  if (!certificateProblem.test(code)) return undefined;
  return `its certificate is not trusted (${code}): put the issuing CA into a Secret and name it in spec.tls.caSecretRef of Endpoint "${endpoint}"`;
}

const notTls = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** The failure for a request that got no (whole) answer: a network, TLS or protocol error. */
export function networkFailure(asking: Asking, caught: unknown): TransferError {
  if (caught instanceof TransferError) return caught;
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const where = `${who(asking)} could not be reached while ${asking.doing} in repository ${asking.repository}`;
  const untrusted = tlsAdvice(code, detail, asking);
  if (untrusted !== undefined)
    return new TransferError('config', `${where}: ${untrusted}.`, { cause: caught });
  if (notTls.has(code)) {
    const fix = `it does not speak TLS (${code}): if plain HTTP is meant, write http:// in remoteURL of Endpoint "${asking.endpoint}" or set spec.tls.plainHTTP`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  if (code.startsWith('HPE_')) {
    const fix = `its answer is no HTTP (${code}): check scheme and port in remoteURL of Endpoint "${asking.endpoint}"`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  if (code === 'ERR_PROXY_TUNNEL') {
    const text = `${where}: the proxy on the way refused (${detail}); check HTTPS_PROXY and NO_PROXY of the worker.`;
    return new TransferError(/\b407\b/.test(detail) ? 'config' : 'retryable', text, { cause: caught });
  }
  const check = `check remoteURL of Endpoint "${asking.endpoint}", the network between and the registry`;
  return new TransferError('retryable', `${where}: ${code || 'no connection'} (${detail}); ${check}.`, {
    cause: caught,
  });
}
