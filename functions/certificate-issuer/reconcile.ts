import { conduitNamespace, type Secret, secrets } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { Kind, KubeClient, Resource } from '#shared/kube';
import { isGoodAuthority, isGoodLeaf, issue, makeAuthority, type Pair } from './certificate.ts';
import { leaves } from './leaves.ts';

type ApiService = Resource & { spec: { caBundle?: string } };

export const apiServices: Kind<ApiService> = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
};
export const apiServiceName = 'v1alpha1.arc.opendefense.cloud';
export const authoritySecretName = 'arc-ca';

/**
 * Makes what is missing, renews what is about to expire, and tells kube-apiserver whom to trust. Resolves with the names of
 * what was written; nothing is, where all is well. Rejects with what the API answers; may be repeated at any point.
 */
export async function reconcile(api: KubeClient, now: Date, signal: AbortSignal): Promise<string[]> {
  const written: string[] = [];
  const authority = await ensure(
    api,
    {
      secretName: authoritySecretName,
      isGood: (pair) => isGoodAuthority(pair, now),
      make: () => makeAuthority(now),
    },
    written,
    signal,
  );
  for (const leaf of leaves) {
    const isGood = (pair: Pair) => isGoodLeaf(pair, leaf, authority, now);
    const make = () => issue(authority, leaf, now);
    await ensure(api, { secretName: leaf.secretName, isGood, make, ca: authority.cert }, written, signal);
  }
  const service = await api.get(apiServices, { name: apiServiceName }, signal);
  if (service === undefined) throw new ArcError('NotFound', `there is no APIService ${apiServiceName}`);
  const caBundle = base64(authority.cert);
  if (service.spec.caBundle !== caBundle) {
    await api.mergePatch(apiServices, { name: apiServiceName }, { spec: { caBundle } }, {}, signal);
    written.push(apiServiceName);
  }
  return written;
}

interface Wanted {
  secretName: string;
  isGood(pair: Pair): boolean;
  make(): Promise<Pair>;
  /** Written beside the pair; part of what makes it good. */
  ca?: string;
}

/** The pair of a Secret, after it was made or renewed where it had to be. */
async function ensure(
  api: KubeClient,
  wanted: Wanted,
  written: string[],
  signal: AbortSignal,
): Promise<Pair> {
  const key = { namespace: conduitNamespace, name: wanted.secretName };
  const found = await api.get(secrets, key, signal);
  const pair = { cert: textOf(found, 'tls.crt'), key: textOf(found, 'tls.key') };
  const sameCa = wanted.ca === undefined || textOf(found, 'ca.crt') === wanted.ca;
  if (found !== undefined && sameCa && wanted.isGood(pair)) return pair;

  const made = await wanted.make();
  const data = {
    'tls.crt': base64(made.cert),
    'tls.key': base64(made.key),
    ...(wanted.ca !== undefined && { 'ca.crt': base64(wanted.ca) }),
  };
  // With the resourceVersion that was read: of two that run at once, the second is refused and looks again.
  if (found !== undefined) await api.replace(secrets, { ...found, data }, signal);
  else {
    const metadata = { ...key, labels: { 'app.kubernetes.io/part-of': 'arc' } };
    await api.create(
      secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data },
      signal,
    );
  }
  written.push(wanted.secretName);
  return made;
}

function textOf(secret: Secret | undefined, name: string): string {
  return Buffer.from(secret?.data?.[name] ?? '', 'base64').toString();
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
