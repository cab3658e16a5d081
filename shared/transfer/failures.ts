import type { IncomingHttpHeaders } from 'node:http';
import type { RegistryCredentials } from './docker-config.ts';
import { parseRetryAfter } from './retry.ts';
import { type Reason, TransferError } from './transfer-error.ts';

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
}

const longestQuote = 200;

/** The first error of an OCI error body (`{"errors":[{code,message}]}`), cut and in one line; '' if there is none. */
export function registryWords(body: Buffer | undefined): string {
  if (!body || body.length === 0) return '';
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const first = (parsed as { errors?: { code?: unknown; message?: unknown }[] } | null)?.errors?.[0];
    if (!first) return '';
    const words = [first.code, first.message].filter((word) => typeof word === 'string').join(': ');
    return words === '' ? '' : ` The registry says: ${words.replace(/\s+/g, ' ').slice(0, longestQuote)}.`;
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

function advice(status: number, asking: Asking): { reason: Reason; text: string } {
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
  if (status === 413)
    return {
      reason: 'permanent',
      text: 'it takes no content of this size: raise the limit of the registry or the proxy before it',
    };
  if (status >= 300 && status < 400)
    return { reason: 'permanent', text: 'it redirects in a way that cannot be followed' };
  return { reason: 'permanent', text: 'it does not accept the request' };
}

/** The failure for an answer that was not expected. `body` is what was read of it, if anything. */
export function statusFailure(
  asking: Asking,
  status: number,
  headers: IncomingHttpHeaders,
  body?: Buffer,
): TransferError {
  const { reason, text } = advice(status, asking);
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  const where = `Registry ${asking.host} answered ${status} while ${asking.doing} in repository ${asking.repository}`;
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new TransferError(reason, `${where}: ${text}.${registryWords(body)}`, options);
}

const certificateProblem = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/;
const notTls = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** The failure for a request that got no (whole) answer: a network, TLS or protocol error. */
export function networkFailure(asking: Asking, caught: unknown): TransferError {
  if (caught instanceof TransferError) return caught;
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  const detail = caught instanceof Error ? caught.message : String(caught);
  const where = `Registry ${asking.host} could not be reached while ${asking.doing} in repository ${asking.repository}`;
  if (certificateProblem.test(code)) {
    const fix = `its certificate is not trusted (${code}): put the issuing CA into a Secret and name it in spec.tls.caSecretRef of Endpoint "${asking.endpoint}"`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  if (notTls.has(code)) {
    const fix = `it does not speak TLS (${code}): if plain HTTP is meant, write http:// in remoteURL of Endpoint "${asking.endpoint}" or set spec.tls.plainHTTP`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  if (code.startsWith('HPE_')) {
    const fix = `its answer is no HTTP (${code}): check scheme and port in remoteURL of Endpoint "${asking.endpoint}"`;
    return new TransferError('config', `${where}: ${fix}.`, { cause: caught });
  }
  const check = `check remoteURL of Endpoint "${asking.endpoint}", the network between and the registry`;
  return new TransferError('retryable', `${where}: ${code || 'no connection'} (${detail}); ${check}.`, {
    cause: caught,
  });
}
