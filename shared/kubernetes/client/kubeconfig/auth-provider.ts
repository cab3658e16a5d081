import { isRecord } from '#shared/base/meta';

type Fields = Record<string, unknown>;

/** The exec plugins that replace the providers. */
const plugins: Readonly<Record<string, string>> = {
  gcp: 'gke-gcloud-auth-plugin, which "gcloud container clusters get-credentials CLUSTER" sets up',
  azure: 'kubelogin, which "kubelogin convert-kubeconfig" sets up',
  oidc: '"kubectl oidc-login" of github.com/int128/kubelogin',
};

/**
 * Replaces the `auth-provider` of a user in a kubeconfig by its token. Of these providers, which exec plugins have replaced, kubectl supports
 * only `oidc`. The token is not refreshed, because a single-use refresh token would have to be written to the kubeconfig. Throws an error
 * that names the exec plugin to use if the token is missing or expired.
 */
export function withoutAuthProvider(
  { 'auth-provider': provider, ...user }: Fields,
  description: string,
): Fields {
  if (!isRecord(provider) || user.token || user.tokenFile) return user;
  const name = String(provider.name);
  const refuse = (reason: string): never => {
    throw new Error(`cannot sign in as ${description}: ${reason}`);
  };
  const plugin = `use the exec plugin ${plugins[name] ?? 'of your cluster (users[].user.exec)'}`;
  if (name !== 'oidc')
    return refuse(
      `the auth-provider ${JSON.stringify(name)} is no longer supported, neither by kubectl: ${plugin}`,
    );
  const token = isRecord(provider.config) ? provider.config['id-token'] : undefined;
  if (typeof token !== 'string' || token === '')
    return refuse(`its auth-provider "oidc" has no id-token: sign in again, or ${plugin}`);
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry.getTime() <= Date.now())
    return refuse(
      `the id-token of its auth-provider "oidc" expired at ${expiry.toISOString()}: renew it with the tool that created this kubeconfig, or ${plugin}`,
    );
  return { ...user, token };
}

/** Returns the `exp` of a JSON Web Token; the server checks the rest. */
function expiryOf(token: string): Date | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const seconds = isRecord(claims) ? claims.exp : undefined;
    const expiry = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
    return Number.isNaN(expiry.getTime()) ? undefined : expiry;
  } catch {
    return undefined;
  }
}
