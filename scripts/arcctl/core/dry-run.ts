import { isRecord, type KubeObject } from '#shared/base/meta';
import { type Order, orders } from '#shared/domain';
import { collectionPath, objectPath, query } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from './failure.ts';
import type { Io } from './io.ts';
import { readManifests } from './manifests.ts';
import type { Cluster } from './session.ts';

/** An Order as in its file, as in the cluster, and as the cluster would store it. */
export interface DryRun {
  /** The file. */
  file: string;
  live: Order | undefined;
  /** Validated and defaulted by the API server in a dry run. */
  next: Order;
}

/** An Order from a file. */
export interface OrderFile {
  file: string;
  order: Order;
}

/** Reads the Orders in files and ignores other objects. */
export async function ordersIn(files: readonly string[]): Promise<OrderFile[]> {
  const found: OrderFile[] = [];
  for (const file of files)
    for (const object of await readManifests(file)) if (isOrder(object)) found.push({ file, order: object });
  if (found.length === 0) throw usage(`${files.join(', ')}: the file has no Orders`);
  return found;
}

/** Sends Orders to the API server in a dry run. */
export async function dryRunAll(io: Io, cluster: Cluster, given: readonly OrderFile[]): Promise<DryRun[]> {
  const results: DryRun[] = [];
  for (const each of given) results.push(await writeOrder(io, cluster, each, true));
  return results;
}

/** Writes an Order from a file; with `dryRun` the API server validates and defaults it, but stores nothing. */
export async function writeOrder(
  io: Io,
  { api, transport, namespace: chosen }: Cluster,
  { file, order }: OrderFile,
  dryRun: boolean,
): Promise<DryRun> {
  const { name, namespace = chosen } = order.metadata;
  const wanted = { ...order, metadata: { ...order.metadata, namespace } };
  const live = await api.get(orders, { name, namespace }, io.signal);
  const options = query({
    dryRun: dryRun ? 'All' : undefined,
    fieldManager: 'arcctl',
    fieldValidation: 'Strict',
  });
  const answer = live
    ? await transport.send(
        {
          method: 'PUT',
          path: `${objectPath(orders, { name, namespace })}${options}`,
          body: mergeLikeApply(live, wanted),
        },
        io.signal,
      )
    : await transport.send(
        { method: 'POST', path: `${collectionPath(orders, namespace)}${options}`, body: wanted },
        io.signal,
      );
  if (!isRecord(answer) || !isOrder(answer))
    throw new Failure(exitCodes.no, 'the response of the server is not an Order');
  return { file, live, next: answer };
}

/** Merges like `kubectl apply`: the file replaces the spec, and adds labels and annotations. */
function mergeLikeApply(live: Order, wanted: Order): Order {
  const labels = { ...live.metadata.labels, ...wanted.metadata.labels };
  const annotations = { ...live.metadata.annotations, ...wanted.metadata.annotations };
  return { ...live, metadata: { ...live.metadata, labels, annotations }, spec: wanted.spec };
}

export function isOrder(object: Record<string, unknown> | KubeObject): object is Order {
  return object.apiVersion === orders.apiVersion && object.kind === orders.kind && isRecord(object.metadata);
}
