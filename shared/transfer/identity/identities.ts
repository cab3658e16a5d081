import type { Masker } from '#shared/base/errors';
import type { S3Credentials } from '../credentials/credentials.ts';
import type { LentCredentials, RegistryCredentials } from '../credentials/docker-config.ts';
import { kept, type Lend } from '../credentials/kept.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import { awsRole } from './aws-role.ts';
import { azureClient, nameOf } from './azure-client.ts';
import { type CloudRegistry, cloudRegistry, cloudStorage, hasOwnTrust } from './hosts.ts';

/** What clouds lend a pod for its identity, at their own servers and for Endpoints that name no credentials. */
export interface Identities {
  /** The region in which the pod runs, where AWS has told it. */
  readonly region: string | undefined;
  /** Credentials for the registry at `origin` of an Endpoint without a Secret; of kind `none` where there is no identity for it. */
  registry(origin: string, tls?: TlsSettings): RegistryCredentials;
  /** Keys for the S3 storage at `origin` of an Endpoint without a Secret. */
  storage(origin: string, tls?: TlsSettings): Lend<S3Credentials> | undefined;
}

export interface IdentityOptions {
  /** The variables by which a cloud tells a pod its identity. */
  env: Readonly<Record<string, string | undefined>>;
  /** Makes a client for a service of a cloud. */
  client: (tls: TlsSettings, origin: string) => HttpClient;
  masker: Masker;
}

/**
 * The identities of one transfer. Nothing is asked, nor loaded, before a server wants credentials; what a cloud lends is shared and renewed
 * in time. It goes to the services of the same cloud alone, by names that are written in code and certificates that Node trusts by itself.
 */
export function createIdentities({ env, client, masker }: IdentityOptions): Identities {
  // It shows nobody a certificate, so no origin is special to it.
  const connect = once(() => client({}, 'https://clouds.invalid'));
  const parts = () => ({ client: connect(), masker });
  const role = awsRole(env);
  const azure = azureClient(env);
  const { GOOGLE_APPLICATION_CREDENTIALS: googleFile } = env;
  let googleOwner = 'the identity of GOOGLE_APPLICATION_CREDENTIALS';
  const loadAws = () => import('./aws.ts');
  const keys = role && kept(async (signal) => (await loadAws()).assumeRole({ role, ...parts() }, signal));
  const lends = new Map<string, Lend<LentCredentials>>();

  /** One for all that `name` counts for. */
  function shared(name: string, fetch: Parameters<typeof kept<LentCredentials>>[0]): Lend<LentCredentials> {
    const lend = lends.get(name) ?? kept(fetch);
    lends.set(name, lend);
    return lend;
  }

  /** What the cloud of `host` lends; undefined: the pod is nobody there. */
  function lent(host: CloudRegistry): RegistryCredentials | undefined {
    if (host.cloud === 'AWS') {
      if (role === undefined || keys === undefined || role.domain !== host.domain) return undefined;
      const { region } = host;
      const lend = shared(region, async (signal) =>
        (await loadAws()).registryPassword({ role, ...parts() }, region, await keys(signal), signal),
      );
      return { kind: 'cloud', owner: () => `role ${role.arn}`, lend };
    }
    if (host.cloud === 'Azure') {
      if (azure === undefined) return undefined;
      const lend = shared(host.host, async (signal) =>
        (await import('./azure.ts')).registryToken({ azure, ...parts() }, host, signal),
      );
      return { kind: 'cloud', owner: () => nameOf(azure), lend, tokensForAll: true };
    }
    if (!googleFile) return undefined;
    const named = (owner: string): void => {
      googleOwner = owner;
    };
    const lend = shared('Google', async (signal) =>
      (await import('./google.ts')).registryPassword({ file: googleFile, named, ...parts() }, signal),
    );
    return { kind: 'cloud', owner: () => googleOwner, lend };
  }

  return {
    region: role?.region,

    registry(origin, tls) {
      const host = cloudRegistry(origin);
      if (host === undefined) return { kind: 'none' };
      const hint = (why: string) => `it names no Secret (spec.secretRef), and ${why}`;
      if (hasOwnTrust(tls))
        return { kind: 'none', hint: hint(`with spec.tls no identity of ${host.cloud} is used`) };
      return lent(host) ?? { kind: 'none', hint: hint(`the worker has no identity of ${host.cloud}`) };
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
