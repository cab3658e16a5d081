import { printable } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import { jsonOf, readSmallFile } from './pod-token.ts';

/** How a pod obtains Google credentials: a credential configuration of type external_account (https://google.aip.dev/auth/4117). */
export interface GoogleConfig {
  /** The resource name of the workload identity provider for the pod's token. */
  audience: string;
  /** `projects/<number>/locations/global/workloadIdentityPools/<pool>`. */
  pool: string;
  tokenFile: string;
  /** The service account that the pod impersonates; undefined if it uses its own identity. */
  serviceAccount: string | undefined;
}

export const tokenURL = 'https://sts.googleapis.com/v1/token';
export const jwtType = 'urn:ietf:params:oauth:token-type:jwt';

const provider =
  /^\/\/iam\.googleapis\.com\/(projects\/\d+\/locations\/global\/workloadIdentityPools\/[a-z\d-]{4,32})\/providers\/[a-z\d-]{4,32}$/;
const impersonation =
  /^https:\/\/iamcredentials\.googleapis\.com\/v1\/projects\/-\/serviceAccounts\/([a-z\d-]+@[a-z\d.-]+\.gserviceaccount\.com):generateAccessToken$/;

/** Reads the file in GOOGLE_APPLICATION_CREDENTIALS; URLs outside of Google are rejected. Throws a config TransferError. */
export async function readGoogleConfig(file: string): Promise<GoogleConfig> {
  const config = jsonOf(Buffer.from(await readSmallFile(file, 'GOOGLE_APPLICATION_CREDENTIALS')));
  const require = (field: string, value: unknown, fits: boolean, what: string): void => {
    if (fits) return;
    const shown = typeof value === 'string' ? `"${printable(value).slice(0, 200)}"` : 'missing';
    throw unusableConfig(`${field} is ${shown}, and must be ${what}`);
  };
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const { type, universe_domain: universe = 'googleapis.com', audience, token_url: url = tokenURL } = config;
  require('type', type, type ===
    'external_account', '"external_account"; store the key of an account in a Secret instead');
  require('universe_domain', universe, universe === 'googleapis.com', '"googleapis.com"');
  require('token_url', url, url === tokenURL, `"${tokenURL}"`);
  const [, pool = ''] = provider.exec(text(audience)) ?? [];
  const form =
    '//iam.googleapis.com/projects/<number>/locations/global/workloadIdentityPools/<pool>/providers/<provider>';
  require('audience', audience, pool !== '', form);
  const { subject_token_type: tokenType, credential_source: source } = config;
  require('subject_token_type', tokenType, tokenType === jwtType, `"${jwtType}"`);
  const { file: tokenFile, format } = isRecord(source) ? source : {};
  require('credential_source.file', tokenFile, text(tokenFile) !== '', 'the path of the token of the pod');
  const formatType = isRecord(format) ? format.type : 'text';
  require('credential_source.format.type', formatType, formatType === 'text', '"text"');
  const { service_account_impersonation_url: actsAs } = config;
  const [, serviceAccount] = impersonation.exec(text(actsAs)) ?? [];
  require('service_account_impersonation_url', actsAs, actsAs === undefined ||
    serviceAccount !==
      undefined, '"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/<address>:generateAccessToken"');
  return { audience: text(audience), pool, tokenFile: text(tokenFile), serviceAccount };
}

function unusableConfig(why: string): TransferError {
  const text = `The file in GOOGLE_APPLICATION_CREDENTIALS of the worker cannot be used: ${why}.`;
  return new TransferError('config', text);
}
