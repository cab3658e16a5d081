import { X509Certificate } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { conduitNamespace, type Secret, secrets } from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { type Authorities, advance, trusted } from './authorities.ts';
import { isGoodLeaf, issue, type Pair } from './certificate.ts';
import { leaves } from './leaves.ts';

type ApiService = KubeObject & { spec: { caBundle?: string } };

export const apiServices: Kind<ApiService> = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
};
export const apiServiceName = 'v1alpha1.arc.opendefense.cloud';
export const authoritySecretName = 'arc-ca';

export interface Reconciled {
  /** Names of the objects that were written. */
  written: string[];
  /** When the next authority was made; undefined when there is none. */
  signsNext: string | undefined;
}

/**
 * Makes missing certificates, renews those about to expire, and writes the trusted authorities into the APIService for kube-apiserver. Writes
 * nothing when nothing has to change. Rejects with the API's error; may be repeated at any point.
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
  if (service === undefined)
    throw new ArcError('NotFound', `there is no APIService ${apiServiceName}: apply knative/base`);
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
  /** The trusted authorities, written beside the pair. A pair beside other ones is replaced. */
  ca: string;
}

/** Makes or renews the pair of a Secret when necessary. */
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
  // With the resourceVersion that was read: of two concurrent runs, the second is refused and reads again.
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
