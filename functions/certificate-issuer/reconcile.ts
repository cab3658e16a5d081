import { X509Certificate } from 'node:crypto';
import { conduitNamespace, type Secret, secrets } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { Kind, KubeClient, Resource } from '#shared/kube';
import { type Authorities, advance, trusted } from './authorities.ts';
import { isGoodLeaf, issue, type Pair } from './certificate.ts';
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

export interface Reconciled {
  /** Names of what was written. */
  written: string[];
  /** Since when there is another authority that will sign; undefined where there is none. */
  signsNext: string | undefined;
}

/**
 * Makes what is missing, renews what is about to expire, and tells kube-apiserver whom to trust. Nothing is written where
 * all is well. Rejects with what the API answers; may be repeated at any point.
 */
export async function reconcile(api: KubeClient, now: Date, signal: AbortSignal): Promise<Reconciled> {
  const written: string[] = [];
  const authorities = await ensureAuthorities(api, now, written, signal);
  const { signer } = authorities;
  const ca = trusted(authorities);
  for (const leaf of leaves) {
    const isGood = (pair: Pair) => isGoodLeaf(pair, leaf, signer, now);
    const make = () => issue(signer, leaf, now);
    await ensureLeaf(api, { secretName: leaf.secretName, isGood, make, ca }, written, signal);
  }
  const service = await api.get(apiServices, { name: apiServiceName }, signal);
  if (service === undefined) throw new ArcError('NotFound', `there is no APIService ${apiServiceName}`);
  const caBundle = base64(ca);
  if (service.spec.caBundle !== caBundle) {
    await api.mergePatch(apiServices, { name: apiServiceName }, { spec: { caBundle } }, {}, signal);
    written.push(apiServiceName);
  }
  return { written, signsNext: authorities.next && new X509Certificate(authorities.next.cert).validFrom };
}

async function ensureAuthorities(
  api: KubeClient,
  now: Date,
  written: string[],
  signal: AbortSignal,
): Promise<Authorities> {
  const secret = await api.get(secrets, keyOf(authoritySecretName), signal);
  const text = (name: string) => textOf(secret, name);
  const former = text('former.crt');
  const found: Authorities = {
    signer: pairOf(secret),
    ...(text('next.crt') !== '' && { next: { cert: text('next.crt'), key: text('next.key') } }),
    ...(former !== '' && { former }),
  };
  const wanted = await advance(found, now);
  if (wanted === found) return found;
  const { signer, next } = wanted;
  await write(
    api,
    secret,
    authoritySecretName,
    {
      'tls.crt': signer.cert,
      'tls.key': signer.key,
      ...(next && { 'next.crt': next.cert, 'next.key': next.key }),
      ...(wanted.former !== undefined && { 'former.crt': wanted.former }),
    },
    signal,
  );
  written.push(authoritySecretName);
  return wanted;
}

interface Wanted {
  secretName: string;
  isGood(pair: Pair): boolean;
  make(): Promise<Pair>;
  /** Written beside the pair; part of what makes it good. */
  ca: string;
}

/** Makes or renews the pair of a Secret where it has to be. */
async function ensureLeaf(
  api: KubeClient,
  { secretName, isGood, make, ca }: Wanted,
  written: string[],
  signal: AbortSignal,
): Promise<void> {
  const found = await api.get(secrets, keyOf(secretName), signal);
  if (found !== undefined && textOf(found, 'ca.crt') === ca && isGood(pairOf(found))) return;
  const { cert, key } = await make();
  await write(api, found, secretName, { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca }, signal);
  written.push(secretName);
}

async function write(
  api: KubeClient,
  found: Secret | undefined,
  name: string,
  texts: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(Object.entries(texts).map(([entry, text]) => [entry, base64(text)]));
  // With the resourceVersion that was read: of two that run at once, the second is refused and looks again.
  if (found !== undefined) {
    await api.replace(secrets, { ...found, data }, signal);
    return;
  }
  const metadata = { ...keyOf(name), labels: { 'app.kubernetes.io/part-of': 'arc' } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data } as const;
  await api.create(secrets, secret, signal);
}

function keyOf(name: string) {
  return { namespace: conduitNamespace, name };
}

function pairOf(secret: Secret | undefined): Pair {
  return { cert: textOf(secret, 'tls.crt'), key: textOf(secret, 'tls.key') };
}

function textOf(secret: Secret | undefined, name: string): string {
  return Buffer.from(secret?.data?.[name] ?? '', 'base64').toString();
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
