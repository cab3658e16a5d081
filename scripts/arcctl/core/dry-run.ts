import { type Order, orders } from '#shared/domain';
import { collectionPath, objectPath, query } from '#shared/kube';
import { isRecord, type KubeObject } from '#shared/meta';
import { exitCodes, Failure, usage } from './failure.ts';
import type { Io } from './io.ts';
import { readManifests } from './manifests.ts';
import type { Cluster } from './session.ts';

/** An Order as a file has it, as the cluster has it, and as the cluster would have it. */
export interface DryRun {
  live: Order | undefined;
  /** Checked and completed by the API server, which stored nothing. */
  next: Order;
}

/** The Orders of a file. Other objects in it are passed over. */
export async function ordersIn(file: string): Promise<Order[]> {
  const found = (await readManifests(file)).filter(isOrder);
  if (found.length === 0) throw usage(`${file} holds no Order`);
  return found;
}

/** Orders, each with what the API server makes of it. */
export async function dryRunAll(io: Io, cluster: Cluster, given: readonly Order[]): Promise<DryRun[]> {
  const results: DryRun[] = [];
  for (const order of given) results.push(await dryRun(io, cluster, order));
  return results;
}

async function dryRun(io: Io, { api, transport, namespace: chosen }: Cluster, given: Order): Promise<DryRun> {
  const { name, namespace = chosen } = given.metadata;
  const wanted = { ...given, metadata: { ...given.metadata, namespace } };
  const live = await api.get(orders, { name, namespace }, io.signal);
  const options = query({ dryRun: 'All', fieldManager: 'arcctl', fieldValidation: 'Strict' });
  const answer = live
    ? await transport.send(
        {
          method: 'PUT',
          path: `${objectPath(orders, { name, namespace })}${options}`,
          body: replacing(live, wanted),
        },
        io.signal,
      )
    : await transport.send(
        { method: 'POST', path: `${collectionPath(orders, namespace)}${options}`, body: wanted },
        io.signal,
      );
  if (!isRecord(answer) || !isOrder(answer))
    throw new Failure(exitCodes.no, 'the server did not answer with an Order');
  return { live, next: answer };
}

/** As `kubectl apply` would leave it: the file decides the spec, and adds labels and annotations. */
function replacing(live: Order, wanted: Order): Order {
  const labels = { ...live.metadata.labels, ...wanted.metadata.labels };
  const annotations = { ...live.metadata.annotations, ...wanted.metadata.annotations };
  return { ...live, metadata: { ...live.metadata, labels, annotations }, spec: wanted.spec };
}

function isOrder(object: Record<string, unknown> | KubeObject): object is Order {
  return object.apiVersion === orders.apiVersion && object.kind === orders.kind && isRecord(object.metadata);
}
