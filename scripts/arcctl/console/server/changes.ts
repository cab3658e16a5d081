import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { readPlanInputs } from '#shared/conduit/function-kit';
import {
  type ArtifactType,
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  isObjectName,
  type Order,
  orders,
  planOrder,
} from '#shared/domain';
import { collectionPath, type Key, query } from '#shared/kubernetes/client';
import { parseManifests } from '../../core/manifests.ts';
import { orderActions } from '../../core/order-actions.ts';
import type { Cluster } from '../../core/session.ts';
import { previewOf } from '../../model/preview.ts';
import { readOrder } from '../../model/read-tree.ts';
import { withVersionRestored } from '../../model/versions.ts';
import type { DryRun } from '../api.ts';
import { readVersion } from './reads.ts';

type Connection = Pick<Cluster, 'api' | 'transport'>;

/** Performs an action on the Order, or on the ArtifactWorkflow `artifact`. Rejects with the error of the API. */
export async function act(
  cluster: Connection,
  key: Required<Key>,
  { action: name, artifact }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  if (name === 'delete' && artifact === undefined) {
    if (!(await cluster.api.delete(orders, key, {}, signal)))
      throw new ArcError('NotFound', `there is no Order ${key.name} in namespace ${key.namespace}`);
    return;
  }
  const action = orderActions.find((each) => each.name === name);
  if (!action) throw new ArcError('BadRequest', 'unknown action: reload the page');
  if (artifact !== undefined && !(typeof artifact === 'string' && isObjectName(artifact)))
    throw new ArcError('BadRequest', 'invalid name of an ArtifactWorkflow: reload the page');
  const kind = artifact === undefined ? orders : artifactWorkflows;
  if (!action.kinds.includes(kind))
    throw new ArcError(
      'BadRequest',
      `${action.name} is only possible for whole Orders: go back to the Order`,
    );
  await action.act(cluster, kind, artifact === undefined ? key : { ...key, name: artifact }, signal);
}

/** Sets an artifact of an Order back to an earlier version. Rejects with Conflict if the Order has changed meanwhile. */
export async function rollBack(
  { api }: Connection,
  key: Required<Key>,
  { index, version }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  if (typeof index !== 'number' || typeof version !== 'string' || !isObjectName(version))
    throw new ArcError('BadRequest', 'artifact or version is missing: reload the page');
  const order = await readOrder(api, key, signal);
  const earlier = await readVersion(api, { namespace: key.namespace, name: version }, signal);
  const type = await readType(api, key.namespace, earlier.spec.type ?? '', signal);
  const artifacts = withVersionRestored(order, index, earlier, type?.spec.parameters ?? []);
  const { resourceVersion } = order.metadata;
  await api.mergePatch(
    orders,
    key,
    { metadata: { ...(resourceVersion !== undefined && { resourceVersion }) }, spec: { artifacts } },
    undefined,
    signal,
  );
}

async function readType(
  api: Connection['api'],
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ArtifactType | undefined> {
  const own = await api.get(artifactTypes, { namespace, name }, signal);
  return own ?? api.get(clusterArtifactTypes, { name }, signal);
}

/** Parses YAML with exactly one Order. Throws BadRequest with the problem. */
export async function orderIn(text: unknown): Promise<Order> {
  const refuse = (message: string) => new ArcError('BadRequest', message);
  if (typeof text !== 'string') throw refuse('the request has no manifest: reload the page');
  const found = await parseManifests(text, 'the manifest').catch((caught: unknown) => {
    throw refuse(caught instanceof Error ? caught.message : String(caught));
  });
  const [first, ...more] = found;
  if (!first || more.length > 0 || first.kind !== orders.kind || first.apiVersion !== orders.apiVersion)
    throw refuse(`the manifest must be a single Order of ${orders.apiVersion}`);
  const { namespace = '', name } = first.metadata;
  if (!isObjectName(name) || !isObjectName(namespace))
    throw refuse('name and namespace must consist of lower-case letters, digits and -');
  return first as Order;
}

/** Previews a new Order without storing it. Invalid YAML is reported like a rejection by the API. */
export async function dryRun(cluster: Connection, text: unknown, signal: AbortSignal): Promise<DryRun> {
  const { parse, stringify } = await import('yaml');
  let manifest = String(text);
  try {
    manifest = stringify(parse(manifest), { lineWidth: 0 });
  } catch {
    // The original text is shown together with the problem.
  }
  try {
    const order = await orderIn(text);
    const next = await send(cluster, order, 'All', signal);
    const inputs = await readPlanInputs({ api: cluster.api, signal }, next, {});
    const outcomes = previewOf(next, planOrder(next, inputs, {}), []).map(
      ({ workflow: _, ...outcome }) => outcome,
    );
    return { manifest, outcomes };
  } catch (caught) {
    if (!ArcError.is(caught, 'Invalid', 'BadRequest', 'Conflict', 'AlreadyExists', 'Forbidden', 'NotFound'))
      throw caught;
    return { manifest, refused: caught.message, outcomes: [] };
  }
}

export function create(cluster: Connection, order: Order, signal: AbortSignal): Promise<Order> {
  return send(cluster, order, undefined, signal);
}

async function send(
  { transport }: Connection,
  order: Order,
  dryRun: 'All' | undefined,
  signal: AbortSignal,
): Promise<Order> {
  const options = query({ fieldManager: 'arcctl', fieldValidation: 'Strict', dryRun });
  const path = `${collectionPath(orders, order.metadata.namespace)}${options}`;
  const answer = await transport.send({ method: 'POST', path, body: order }, signal);
  if (isRecord(answer) && answer.kind === orders.kind) return answer as Order;
  throw new ArcError('InternalError', 'the response of the server is not an Order');
}
