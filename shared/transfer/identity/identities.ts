import type { Masker } from '#shared/errors';
import type { S3Credentials } from '../credentials/credentials.ts';
import type { LentCredentials, RegistryCredentials } from '../credentials/docker-config.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import { awsRole } from './aws-role.ts';
import { cloudRegistry, cloudStorage, hasOwnTrust } from './hosts.ts';
import { kept, type Lend } from './kept.ts';

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
  const role = awsRole(env);
  const load = () => import('./aws.ts');
  const connect = once(() => client({}, 'https://amazonaws.com'));
  const context = role && (() => ({ role, client: connect(), masker }));
  const keys = context && kept(async (signal) => (await load()).assumeRole(context(), signal));
  const passwords = new Map<string, Lend<LentCredentials>>();

  function passwordsOf(region: string): Lend<LentCredentials> | undefined {
    if (context === undefined || keys === undefined) return undefined;
    const fetch = async (signal: AbortSignal) =>
      (await load()).registryPassword(context(), region, await keys(signal), signal);
    const lend = passwords.get(region) ?? kept(fetch);
    passwords.set(region, lend);
    return lend;
  }

  return {
    region: role?.region,

    registry(origin, tls) {
      const host = cloudRegistry(origin);
      if (host === undefined) return { kind: 'none' };
      const noSecret = 'it names no Secret (spec.secretRef)';
      if (hasOwnTrust(tls))
        return { kind: 'none', hint: `${noSecret}, and with spec.tls no identity of ${host.cloud} is used` };
      const lend = role?.domain === host.domain ? passwordsOf(host.region) : undefined;
      if (role === undefined || lend === undefined)
        return { kind: 'none', hint: `${noSecret}, and the worker has no identity of ${host.cloud}` };
      return { kind: 'cloud', owner: `role ${role.arn}`, lend };
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
