import {
  lookupDockerConfig,
  type OwnCredentials,
  type RegistryCredentials,
  secretsOfDockerConfig,
} from './docker-config.ts';

/** The credentials of an Endpoint, in the forms that a Secret can have. */
export type EndpointCredentials =
  | { username: string; password: string }
  | { dockerConfigJson: string }
  | { token: string }
  | S3Credentials;

/** Keys of an account of an S3-compatible storage. */
export interface S3Credentials {
  accessKeyID: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** Of the bucket, if neither the host's name nor the storage tells it. */
  region?: string;
}

/** The credentials for `repository` on `host`. Throws a config TransferError for a malformed docker config. */
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

/** What is sent for the credentials of a registry now. */
export async function presented(
  credentials: RegistryCredentials,
  signal: AbortSignal,
): Promise<OwnCredentials> {
  return credentials.kind === 'cloud' ? credentials.lend(signal) : credentials;
}

/** The parts of credentials that must not be printed. A user name is not a secret; what a cloud lends is masked when it comes. */
export function secretsOf(credentials: RegistryCredentials): string[] {
  if (credentials.kind === 'none' || credentials.kind === 'cloud') return [];
  if (credentials.kind === 'basic') {
    const pair = `${credentials.username}:${credentials.password}`;
    return [credentials.password, Buffer.from(pair).toString('base64')];
  }
  return [credentials.token];
}

/** The same for the credentials of an Endpoint, for every registry in them. */
export function secretsOfEndpoint(given: EndpointCredentials | undefined): string[] {
  if (given === undefined) return [];
  if ('token' in given) return [given.token];
  if ('dockerConfigJson' in given)
    return [given.dockerConfigJson, ...secretsOfDockerConfig(given.dockerConfigJson)];
  if ('accessKeyID' in given)
    return [given.secretAccessKey, ...(given.sessionToken === undefined ? [] : [given.sessionToken])];
  return secretsOf({ kind: 'basic', ...given });
}
