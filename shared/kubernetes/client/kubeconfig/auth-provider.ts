import { isRecord } from '#shared/base/meta';

type Fields = Record<string, unknown>;

/** The exec plugins that replaced the providers. */
const plugins: Readonly<Record<string, string>> = {
  gcp: 'gke-gcloud-auth-plugin, which "gcloud container clusters get-credentials CLUSTER" sets up',
  azure: 'kubelogin, which "kubelogin convert-kubeconfig" sets up',
  oidc: '"kubectl oidc-login" of github.com/int128/kubelogin',
};

/**
 * Replaces `auth-provider` in a user of a kubeconfig with the token that it contains. Of these sign-ins, which are older than exec plugins,
 * kubectl still supports only `oidc`. The token is used until it expires. It is not renewed: with single-use refresh tokens, the new token
 * would have to be written to the kubeconfig. Throws, naming the plugin that can.
 */
export function withoutAuthProvider(
  { 'auth-provider': provider, ...user }: Fields,
  description: string,
): Fields {
  if (!isRecord(provider) || user.token || user.tokenFile) return user;
  const name = String(provider.name);
  const refuse = (why: string): never => {
    throw new Error(`cannot sign in as ${description}: ${why}`);
  };
  const plugin = `use the exec plugin ${plugins[name] ?? 'of your cluster (users[].user.exec)'}`;
  if (name !== 'oidc')
    return refuse(
      `kubeconfigs with the auth-provider ${JSON.stringify(name)} work no longer, with kubectl neither: ${plugin}`,
    );
  const token = isRecord(provider.config) ? provider.config['id-token'] : undefined;
  if (typeof token !== 'string' || token === '')
    return refuse(`its auth-provider "oidc" holds no id-token: sign in again, or ${plugin}`);
  const expiry = expiryOf(token);
  if (expiry !== undefined && expiry.getTime() <= Date.now())
    return refuse(
      `the id-token of its auth-provider "oidc" is good no longer (since ${expiry.toISOString()}): renew it with what made this kubeconfig, or ${plugin}`,
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
