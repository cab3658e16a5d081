import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpsClient } from '../../../fixtures/http/https-client.ts';

/** What a greedy tenant did, by the status codes of the answers. */
export type Greed = Record<string, Record<number, number>>;

/** Artifacts of the Order that the tenant keeps unfinished. */
const artifacts = 300;
/** Below the limit of 256 KiB for annotations of one object. */
const annotationBytes = 250 * 1024;

/**
 * Takes whatever ARC gives one namespace, until `signal` ends it: an Order of 300 artifacts that is forced every second, edited every 20 s and
 * made anew every ten minutes; small Orders and annotated Endpoints until the limits of the namespace refuse them.
 * @param api as an operator of the namespace
 */
export async function takeEverything(
  api: HttpsClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Greed> {
  const greed: Greed = {};
  const base = `/apis/arc.opendefense.cloud/v1alpha1/namespaces/${namespace}`;
  const send = async (what: string, method: string, path: string, body?: object) => {
    const code = await api.send(method, base + path, body).then(
      (reply) => reply.code,
      () => 0, // no answer: the deadline of the client, or of a server under load
    );
    greed[what] = { ...greed[what], [code]: (greed[what]?.[code] ?? 0) + 1 };
  };
  const every = async (seconds: number, work: (turn: number) => Promise<void>) => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      await work(turn);
      await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all([
    every(600, async (turn) => {
      if (turn > 0) await send('delete', 'DELETE', '/orders/many');
      await send('order', 'POST', '/orders', many(namespace, 'first'));
    }),
    every(1, () => {
      const forced = { 'arc.opendefense.cloud/force-at': String(Math.floor(Date.now() / 1000)) };
      return send('force', 'PATCH', '/orders/many', { metadata: { annotations: forced } });
    }),
    every(20, (turn) => {
      const { spec } = many(namespace, `edit-${turn}`);
      return send('edit', 'PATCH', '/orders/many', { spec });
    }),
    every(2, (turn) => send('small orders', 'POST', '/orders', small(namespace, `small-${turn}`))),
    every(1, (turn) => send('endpoints', 'POST', '/endpoints', annotated(namespace, `filler-${turn}`))),
  ]);
  return greed;
}

function many(namespace: string, edit: string): { spec: object } {
  return orderOf(
    namespace,
    'many',
    Array.from({ length: artifacts }, (_, index) => image(`${namespace}/${edit}/${index}`)),
  );
}

function small(namespace: string, name: string): object {
  return orderOf(namespace, name, [image(`${namespace}/${name}`)]);
}

function image(to: string): object {
  return { type: 'oci', spec: { image: 'mixed/app:1.0', override: `${to}:1.0` } };
}

function orderOf(namespace: string, name: string, artifacts: readonly object[]): { spec: object } {
  return {
    ...{ apiVersion: 'arc.opendefense.cloud/v1alpha1', kind: 'Order', metadata: { name, namespace } },
    spec: { defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } }, artifacts },
  };
}

function annotated(namespace: string, name: string): object {
  return {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Endpoint',
    metadata: { name, namespace, annotations: { filler: 'x'.repeat(annotationBytes) } },
    spec: { type: 'oci', remoteURL: 'http://destination.registries.svc:5000', tls: { plainHTTP: true } },
  };
}
