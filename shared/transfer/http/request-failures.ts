import type { IncomingHttpHeaders } from 'node:http';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { type FailureReason, TransferError } from '../errors/transfer-error.ts';
import { certificateAlert, certificateRefusal } from './client-certificate.ts';
import { connectionEnd } from './connection-end.ts';
import { loopAdvice, RefusedError } from './redirect.ts';
import { parseRetryAfter } from './retry.ts';

/** A request to a registry, as its error messages describe it. */
export interface RequestContext {
  /** Name of the Endpoint. */
  endpoint: string;
  host: string;
  /** As in "repository team/app". */
  place: string;
  credentials: RegistryCredentials;
  /** As in "reading manifest 1.0". */
  activity: string;
  /** True if the request needs the right to write. */
  writing: boolean;
  /** The host of the last request, if the registry redirected it to another host. */
  redirectHost?: string | undefined;
  /** False if another server sent the response, so that messages must not quote it. */
  quotable?: boolean;
  /** Why a redirect is not followed, or why an upload is not sent where the registry wants it. */
  refusal?: string | undefined;
}

/** The subject of a message: the registry, or the host that it redirected to. */
function subject({ host, redirectHost }: RequestContext): string {
  return redirectHost === undefined
    ? `Registry ${host}`
    : `${redirectHost}, which registry ${host} redirects to,`;
}

const maxQuoteLength = 300;
const maxErrors = 3;

function errorText({
  code,
  message,
  detail,
}: {
  code?: unknown;
  message?: unknown;
  detail?: unknown;
}): string {
  const text = [code, message].filter((word) => typeof word === 'string' && word !== '').join(': ');
  return typeof detail === 'string' && detail !== '' ? `${text} (${detail})` : text;
}

/** The errors of an OCI error body (`{"errors":[{code,message,detail}]}`), truncated and on one line; '' if there are none. */
export function registryErrors(body: Buffer | undefined): string {
  if (!body || body.length === 0) return '';
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const errors = (parsed as { errors?: unknown } | null)?.errors;
    const objects = (Array.isArray(errors) ? errors : []).filter(
      (error) => typeof error === 'object' && error !== null,
    );
    const distinct = [...new Set(objects.slice(0, maxErrors).map(errorText))].filter((each) => each !== '');
    // Control characters could manipulate a terminal.
    const quoted = distinct.join('; ').replace(/[\s\p{C}]+/gu, ' ');
    return quoted === '' ? '' : ` The registry reports: ${quoted.slice(0, maxQuoteLength)}.`;
  } catch {
    // Not JSON: a proxy's HTML page, which explains nothing.
    return '';
  }
}

function unauthorized(context: RequestContext): string {
  const { credentials, endpoint } = context;
  if (credentials.kind === 'none') {
    const hint = credentials.hint === undefined ? 'it names no Secret (spec.secretRef)' : credentials.hint;
    return `it requires credentials, and Endpoint "${endpoint}" has none: ${hint}`;
  }
  if (credentials.kind === 'cloud')
    return `it refused ${credentials.owner()}, the identity of the pod: grant it the right to ${context.writing ? 'push to' : 'pull from'} the repository`;
  const owner = credentials.kind === 'basic' ? `of user "${credentials.username}"` : '(a token)';
  const right = context.writing ? 'push to' : 'pull from';
  return `it refused the credentials ${owner}: check the Secret of Endpoint "${endpoint}", and that the account may ${right} the repository`;
}

function advice(status: number, context: RequestContext): { reason: FailureReason; text: string } {
  const right = context.writing ? 'push to' : 'pull from';
  if (status === 401) return { reason: 'auth', text: unauthorized(context) };
  if (status === 403) {
    const { credentials } = context;
    const account = credentials.kind === 'cloud' ? credentials.owner() : 'the account';
    return {
      reason: 'denied',
      text: `${account} may not ${right} this repository: grant the account that right in the registry`,
    };
  }
  if (status === 404) {
    const access =
      context.credentials.kind === 'none'
        ? '; without credentials, a private repository can appear not to exist'
        : '';
    return {
      reason: 'permanent',
      text: `it does not exist: check repository, tag and Endpoint "${context.endpoint}"${access}`,
    };
  }
  if (status === 429)
    return {
      reason: 'retryable',
      text: "it limits the rate of requests: retry later, or raise the account's limit",
    };
  if (status === 408 || status >= 500)
    return { reason: 'retryable', text: 'the registry has an internal problem: retry later' };
  if (status === 407) {
    return {
      reason: 'config',
      text: 'the proxy requires credentials: check HTTP_PROXY of the worker',
    };
  }
  if (status === 413)
    return {
      reason: 'permanent',
      text: 'it does not accept content of this size: raise the limit of the registry or of the proxy in front of it',
    };
  return { reason: 'permanent', text: 'it does not accept the request' };
}

/** Advice for a redirect that is not followed, and for a blob store that rejects the registry's signed URL. */
function redirectAdvice(
  status: number,
  context: RequestContext,
  location: string | undefined,
): { reason: FailureReason; text: string } | undefined {
  if (status >= 300 && status < 400) {
    const loop = loopAdvice(context.refusal);
    if (loop !== undefined) return { reason: 'permanent', text: loop };
    const there =
      location !== undefined && URL.canParse(location)
        ? ` to ${new URL(location).protocol}//${new URL(location).host}`
        : '';
    const { endpoint, refusal = 'its Location is not usable' } = context;
    const host = there === '' ? '' : ` list ${new URL(location ?? '').host} in spec.redirectHosts, or`;
    const text = `it redirects${there}, which is not followed: ${refusal}. If this is intended,${host} set the final URL as remoteURL of Endpoint "${endpoint}"`;
    return { reason: 'permanent', text };
  }
  if (context.redirectHost === undefined || (status !== 401 && status !== 403)) return undefined;
  return {
    reason: 'retryable',
    text: 'it refuses the URL that the registry gave, and receives no credentials: check the clock and the storage of the registry',
  };
}

/** The failure for a response with an unexpected status. `body` is the part of the body that was read, if any. */
export function registryStatusFailure(
  context: RequestContext,
  status: number,
  headers: IncomingHttpHeaders,
  body?: Buffer,
): TransferError {
  const quoted = context.quotable === false ? undefined : body;
  const refusal = certificateRefusal(status, quoted, context.endpoint);
  const { reason, text } =
    refusal === undefined
      ? (redirectAdvice(status, context, headers.location) ?? advice(status, context))
      : { reason: 'config' as const, text: refusal };
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  const where = `${subject(context)} answered ${status} while ${context.activity} in ${context.place}`;
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new TransferError(reason, `${where}: ${text}.${registryErrors(quoted)}`, options);
}

const certificateProblem = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/;
const oldProtocol = /alert protocol version|unsupported protocol/i;

const notTls = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Explains a TLS failure, and what to do; undefined for other failures. */
export function tlsProblem(caught: unknown, endpoint: string, quotable = true): string | undefined {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const advice = certificateAdvice(code, detail, endpoint, quotable);
  if (advice !== undefined || !notTls.has(code)) return advice;
  return `it does not use TLS (${code}): for plain HTTP, write http:// in remoteURL of Endpoint "${endpoint}" or set spec.tls.plainHTTP`;
}

function certificateAdvice(
  code: string,
  detail: string,
  endpoint: string,
  quotable: boolean,
): string | undefined {
  const alerted = certificateAlert(code, endpoint);
  if (alerted !== undefined) return alerted;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is for another name (${quotable ? detail.slice(0, 300) : code}): set that name in remoteURL of Endpoint "${endpoint}", or issue a certificate for this one`;
  if (code === 'CERT_HAS_EXPIRED')
    return `its certificate, or the certificate of its CA, has expired (${code}): renew it`;
  if (code === 'CERT_NOT_YET_VALID')
    return `its certificate is not valid yet (${code}): check the clocks of both machines`;
  if (oldProtocol.test(detail)) return `it does not support TLS 1.2 or later (${code}): update it`;
  if (!certificateProblem.test(code)) return undefined;
  return `its certificate is not trusted (${code}): store the issuing CA in a Secret and name the Secret in spec.tls.caSecretRef of Endpoint "${endpoint}"`;
}

/** The failure for a request without a complete response: a network, TLS or protocol error. */
export function registryNetworkFailure(context: RequestContext, caught: unknown): TransferError {
  if (caught instanceof TransferError) return caught;
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const where = `${subject(context)} could not be reached while ${context.activity} in ${context.place}`;
  const problem = tlsProblem(caught, context.endpoint, context.quotable);
  if (problem !== undefined) return new TransferError('config', `${where}: ${problem}.`, { cause: caught });
  if (caught instanceof RefusedError) {
    const text = `Registry ${context.host} refers to ${caught.origin} for ${context.activity} in ${context.place}, which was not contacted: ${detail}.`;
    return new TransferError('config', text, { cause: caught });
  }
  if (code === 'ERR_ADDRESS_DENIED')
    return new TransferError('config', `${where}: ${detail}.`, { cause: caught });
  if (code.startsWith('HPE_')) {
    const fix = `its response is not HTTP (${code}): check scheme and port in remoteURL of Endpoint "${context.endpoint}"`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  if (code === 'ERR_PROXY_TUNNEL') {
    const text = `${where}: the proxy refused the connection (${detail}); check HTTPS_PROXY and NO_PROXY of the worker.`;
    return new TransferError(/\b407\b/.test(detail) ? 'config' : 'retryable', text, { cause: caught });
  }
  const end = connectionEnd(caught, context.endpoint);
  if (end !== undefined) return new TransferError('retryable', `${where}: ${end.text}.`, { cause: caught });
  const check = `check remoteURL of Endpoint "${context.endpoint}", the network and the registry`;
  return new TransferError('retryable', `${where}: ${code || 'no connection'} (${detail}); ${check}.`, {
    cause: caught,
  });
}
