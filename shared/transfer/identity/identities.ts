import type { Masker } from '#shared/base/errors';
import { type CredentialSource, cachedCredentials } from '../credentials/cached-credentials.ts';
import type { S3Credentials } from '../credentials/credentials.ts';
import type { IssuedCredentials, RegistryCredentials } from '../credentials/docker-config.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { TlsSettings } from '../reference/address.ts';
import { awsRole } from './aws-role.ts';
import { azureClient, nameOf } from './azure-client.ts';
import { type CloudRegistry, cloudRegistry, cloudStorage, hasOwnTrust } from './hosts.ts';

/** Cloud credentials of the pod's identity, for Endpoints without credentials and only at the cloud's own servers. */
export interface Identities {
  /** The region of the pod, if AWS has injected one. */
  readonly region: string | undefined;
  /** Credentials for the registry at `origin` of an Endpoint without a Secret; of kind `none` without an identity for it. */
  registry(origin: string, tls?: TlsSettings): RegistryCredentials;
  /** Keys for the S3 storage at `origin` of an Endpoint without a Secret. */
  storage(origin: string, tls?: TlsSettings): CredentialSource<S3Credentials> | undefined;
}

export interface IdentityOptions {
  /** The environment in which clouds inject the pod's identity. */
  env: Readonly<Record<string, string | undefined>>;
  /** Creates a client for a cloud service. */
  client: (tls: TlsSettings, origin: string) => HttpClient;
  masker: Masker;
}

/**
 * Creates the identities of one transfer. Nothing is requested or loaded until a server requires credentials. Credentials are shared and
 * renewed in time. They are sent only to services of the same cloud, whose names are fixed in the code, over certificates that Node trusts.
 */
export function createIdentities({ env, client, masker }: IdentityOptions): Identities {
  // This client has no client certificate, so its origin does not matter.
  const connect = once(() => client({}, 'https://clouds.invalid'));
  const parts = () => ({ client: connect(), masker });
  const role = awsRole(env);
  const azure = azureClient(env);
  const { GOOGLE_APPLICATION_CREDENTIALS: googleFile } = env;
  let googleOwner = 'the identity of GOOGLE_APPLICATION_CREDENTIALS';
  const loadAws = () => import('./aws.ts');
  const keys =
    role && cachedCredentials(async (signal) => (await loadAws()).assumeRole({ role, ...parts() }, signal));
  const sources = new Map<string, CredentialSource<IssuedCredentials>>();

  /** Returns the cached source of credentials called `name`. */
  function shared(
    name: string,
    fetch: Parameters<typeof cachedCredentials<IssuedCredentials>>[0],
  ): CredentialSource<IssuedCredentials> {
    const source = sources.get(name) ?? cachedCredentials(fetch);
    sources.set(name, source);
    return source;
  }

  /** The pod's credentials at the cloud of `host`; undefined without an identity there. */
  function cloudCredentials(host: CloudRegistry): RegistryCredentials | undefined {
    if (host.cloud === 'AWS') {
      if (role === undefined || keys === undefined || role.domain !== host.domain) return undefined;
      const { region } = host;
      const fetch = shared(region, async (signal) =>
        (await loadAws()).registryPassword({ role, ...parts() }, region, await keys(signal), signal),
      );
      return { kind: 'cloud', owner: () => `role ${role.arn}`, fetch };
    }
    if (host.cloud === 'Azure') {
      if (azure === undefined) return undefined;
      const fetch = shared(host.host, async (signal) =>
        (await import('./azure.ts')).registryToken({ azure, ...parts() }, host, signal),
      );
      return { kind: 'cloud', owner: () => nameOf(azure), fetch, tokensForAll: true };
    }
    if (!googleFile) return undefined;
    const named = (owner: string): void => {
      googleOwner = owner;
    };
    const fetch = shared('Google', async (signal) =>
      (await import('./google.ts')).registryPassword({ file: googleFile, named, ...parts() }, signal),
    );
    return { kind: 'cloud', owner: () => googleOwner, fetch };
  }

  return {
    region: role?.region,

    registry(origin, tls) {
      const host = cloudRegistry(origin);
      if (host === undefined) return { kind: 'none' };
      const hint = (why: string) => `it names no Secret (spec.secretRef), and ${why}`;
      if (hasOwnTrust(tls))
        return {
          kind: 'none',
          hint: hint(`an Endpoint with spec.tls does not use the identity of ${host.cloud}`),
        };
      return (
        cloudCredentials(host) ?? { kind: 'none', hint: hint(`the worker has no identity of ${host.cloud}`) }
      );
    },

    storage(origin, tls) {
      const host = cloudStorage(origin);
      return host !== undefined && host.domain === role?.domain && !hasOwnTrust(tls) ? keys : undefined;
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
