import { lookupDockerConfig, type RegistryCredentials, secretsOfDockerConfig } from './docker-config.ts';

/** The credentials of an Endpoint, in the three forms in which a Secret can hold them. */
export type EndpointCredentials =
  | { username: string; password: string }
  | { dockerConfigJson: string }
  | { token: string };

/** What to present to `host` for `repository`. Throws a config TransferError for a malformed docker config. */
export function credentialsFor(
  given: EndpointCredentials | undefined,
  host: string,
  repository: string,
): RegistryCredentials {
  if (given === undefined) return { kind: 'none' };
  if ('dockerConfigJson' in given) return lookupDockerConfig(given.dockerConfigJson, host, repository);
  if ('token' in given) return { kind: 'token', token: given.token };
  return { kind: 'basic', username: given.username, password: given.password };
}

/** Everything in these credentials that must not be printed. A user name is not a secret. */
export function secretsOf(credentials: RegistryCredentials): string[] {
  if (credentials.kind === 'none') return [];
  if (credentials.kind === 'basic') {
    const pair = `${credentials.username}:${credentials.password}`;
    return [credentials.password, Buffer.from(pair).toString('base64')];
  }
  return [credentials.token];
}

/** The same of credentials as an Endpoint has them, whichever registry they are for. */
export function secretsOfEndpoint(given: EndpointCredentials | undefined): string[] {
  if (given === undefined) return [];
  if ('token' in given) return [given.token];
  if ('dockerConfigJson' in given)
    return [given.dockerConfigJson, ...secretsOfDockerConfig(given.dockerConfigJson)];
  return secretsOf({ kind: 'basic', ...given });
}
