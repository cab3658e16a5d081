import type { Secret } from '../kinds/core.ts';
import { bundleType } from '../kinds/well-known.ts';
import type { JobCredentials, JobEndpoint } from './job.ts';

/** A client certificate with its key, as PEM. */
export type ClientCertificate = Required<Pick<NonNullable<JobEndpoint['tls']>, 'certificate' | 'key'>>;

/** The content of an Endpoint's Secret. `client`: the worker's certificate in the TLS handshake. */
export type Access = Pick<JobEndpoint, 'credentials' | 'keys'> & { client?: ClientCertificate };

/**
 * Reads the Secret of an Endpoint of this type: credentials, a client certificate or both; for type `bundle` keys, and optionally
 * credentials. Returns a text without any value where the Secret cannot be used.
 */
export function accessOf(type: string, secret: Secret): Access | string {
  const credentials = credentialsOf(secret);
  const client = clientOf(secret);
  if (typeof client === 'string') return client;
  if (type === bundleType) return bundleAccess(secret, credentials, client);
  if (typeof credentials !== 'string') return { credentials, ...(client && { client }) };
  return client ? { client } : credentials;
}

function bundleAccess(
  secret: Secret,
  credentials: JobCredentials | string,
  client: ClientCertificate | undefined,
): Access | string {
  const sign = decoded(secret, 'sign.key');
  const trust = decoded(secret, 'trust.pub');
  if (sign === undefined && trust === undefined)
    return `Secret "${secret.metadata.name}" has neither sign.key, to write bundles, nor trust.pub, to read them`;
  const keys = { ...(sign !== undefined && { sign }), ...(trust !== undefined && { trust }) };
  return { keys, ...(typeof credentials === 'string' ? {} : { credentials }), ...(client && { client }) };
}

/** Reads a client certificate by the keys of type kubernetes.io/tls. */
function clientOf(secret: Secret): ClientCertificate | string | undefined {
  const certificate = decoded(secret, 'tls.crt');
  const key = decoded(secret, 'tls.key');
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  if (certificate === undefined && key === undefined) return undefined;
  return `Secret "${secret.metadata.name}" has only one of tls.crt and tls.key: a client certificate needs both`;
}

/** Reads credentials by the keys of the Secret, or returns why there are none, without any value. */
function credentialsOf(secret: Secret): JobCredentials | string {
  const dockerConfigJson = decoded(secret, '.dockerconfigjson');
  if (dockerConfigJson !== undefined) return { dockerConfigJson };
  const keys = s3KeysOf(secret);
  if (keys !== undefined) return keys;
  const username = decoded(secret, 'username');
  const password = decoded(secret, 'password');
  if (username !== undefined && password !== undefined) return { username, password };
  const token = decoded(secret, 'token');
  if (token !== undefined) return { token };
  return `Secret "${secret.metadata.name}" has none of: username and password, .dockerconfigjson, token, accessKeyID and secretAccessKey, tls.crt and tls.key`;
}

/** Key names for S3: ours, those of the AWS tools' environment and configuration files, and Flux's. */
const s3Names = {
  accessKeyID: ['accessKeyID', 'accessKeyId', 'AWS_ACCESS_KEY_ID', 'aws_access_key_id', 'accesskey'],
  secretAccessKey: ['secretAccessKey', 'AWS_SECRET_ACCESS_KEY', 'aws_secret_access_key', 'secretkey'],
  sessionToken: ['sessionToken', 'AWS_SESSION_TOKEN', 'aws_session_token'],
  region: ['region', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
};

const keysRead: ReadonlySet<string> = new Set([
  ...['.dockerconfigjson', 'username', 'password', 'token', 'tls.crt', 'tls.key', 'sign.key', 'trust.pub'],
  ...Object.values(s3Names).flat(),
]);

/**
 * Returns the part of a Secret's data that matters to transfers of an Endpoint of this type. All of it, where ARC itself finds nothing in it: a
 * template of one's own reads such a Secret.
 */
export function accessData(
  type: string,
  data: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: '' }, data: { ...data } };
  if (typeof accessOf(type, secret) === 'string') return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => keysRead.has(name)));
}

function s3KeysOf(secret: Secret): JobCredentials | undefined {
  const found = (names: readonly string[]) =>
    names.map((name) => decoded(secret, name)?.trim()).find((value) => value !== undefined && value !== '');
  const accessKeyID = found(s3Names.accessKeyID);
  const secretAccessKey = found(s3Names.secretAccessKey);
  if (accessKeyID === undefined || secretAccessKey === undefined) return undefined;
  const sessionToken = found(s3Names.sessionToken);
  const region = found(s3Names.region);
  return {
    accessKeyID,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(region === undefined ? {} : { region }),
  };
}

/** Returns the trusted certificates in a Secret of `tls.caSecretRef`, as PEM; undefined if it has none. */
export function certificatesOf(secret: Secret): string | undefined {
  return decoded(secret, 'ca.crt');
}

function decoded(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
