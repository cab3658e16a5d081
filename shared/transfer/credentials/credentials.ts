import {
  lookupDockerConfig,
  type OwnCredentials,
  type RegistryCredentials,
  secretsOfDockerConfig,
} from './docker-config.ts';

/** The credentials of an Endpoint, in the forms that a Secret supports. */
export type EndpointCredentials =
  | { username: string; password: string }
  | { dockerConfigJson: string }
  | { token: string }
  | S3Credentials;

/** Access keys of an S3-compatible storage. */
export interface S3Credentials {
  accessKeyID: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** The region of the bucket, if neither the host name nor the storage reports it. */
  region?: string;
}

/** Returns the credentials for `repository` on `host`. Throws a config TransferError for a malformed docker config. */
export function credentialsFor(
  given: EndpointCredentials | undefined,
  host: string,
  repository: string,
): OwnCredentials {
  if (given === undefined) return { kind: 'none' };
  if ('dockerConfigJson' in given) return lookupDockerConfig(given.dockerConfigJson, host, repository);
  if ('token' in given) return { kind: 'token', token: given.token };
  if ('accessKeyID' in given) return { kind: 'none', hint: 'its Secret holds keys for S3' };
  return { kind: 'basic', username: given.username, password: given.password };
}

/** Returns the credentials to send now, fetching those of a cloud. */
export async function currentCredentials(
  credentials: RegistryCredentials,
  signal: AbortSignal,
): Promise<OwnCredentials> {
  return credentials.kind === 'cloud' ? credentials.fetch(signal) : credentials;
}

/** The secret parts of credentials. A user name is not secret; cloud credentials are masked when they are fetched. */
export function secretsOf(credentials: RegistryCredentials): string[] {
  if (credentials.kind === 'none' || credentials.kind === 'cloud') return [];
  if (credentials.kind === 'basic') {
    const pair = `${credentials.username}:${credentials.password}`;
    return [credentials.password, Buffer.from(pair).toString('base64')];
  }
  return [credentials.token];
}

/** The secret parts of an Endpoint's credentials, for every registry in them. */
export function secretsOfEndpoint(given: EndpointCredentials | undefined): string[] {
  if (given === undefined) return [];
  if ('token' in given) return [given.token];
  if ('dockerConfigJson' in given)
    return [given.dockerConfigJson, ...secretsOfDockerConfig(given.dockerConfigJson)];
  if ('accessKeyID' in given)
    return [given.secretAccessKey, ...(given.sessionToken === undefined ? [] : [given.sessionToken])];
  return secretsOf({ kind: 'basic', ...given });
}
