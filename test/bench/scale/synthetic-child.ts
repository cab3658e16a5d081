/**
 * The lists and watches of an API server whose Orders and ArtifactWorkflows are made when they are read, so that there may be more of them
 * than a store holds. `argv`: how many Orders. Asked over IPC for `{ change: <number of an Order> }`, it sends that to the watch of Orders.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { KubeObject } from '#shared/base/meta';
import { settledInputs, settledOrder, settledWorkflow } from './settled.ts';

const count = Number(process.argv[2]);
const inputs = settledInputs(count);
/** Every object has a version of its own, below this; changes are counted from here. */
let version = 2 * count + inputs.length + 10;
const watches = new Set<ServerResponse>();

interface Collection {
  size: number;
  at(index: number): KubeObject;
}

const ofKind = (kind: string): Collection => {
  const found = inputs.filter((object) => object.kind === kind);
  return { size: found.length, at: (index) => versioned(found[index] as KubeObject, 2 * count + index + 1) };
};
const collections: Record<string, Collection> = {
  orders: { size: count, at: (index) => versioned(settledOrder(index), index + 1) },
  artifactworkflows: { size: count, at: (index) => versioned(settledWorkflow(index), count + index + 1) },
  endpoints: ofKind('Endpoint'),
  clusterartifacttypes: ofKind('ClusterArtifactType'),
  artifacttypes: ofKind('ArtifactType'),
};

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const plural = url.pathname.split('/').at(-1) ?? '';
  const collection = url.pathname.startsWith('/apis/arc.') ? collections[plural] : undefined;
  response.setHeader('content-type', 'application/json');
  if (collection === undefined) {
    response.statusCode = 404;
    response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound' }));
  } else if (url.searchParams.get('watch')) {
    response.flushHeaders();
    if (plural === 'orders') watches.add(response);
    response.on('close', () => watches.delete(response));
  } else {
    const from = Number(url.searchParams.get('continue') ?? '0');
    const to = Math.min(from + Number(url.searchParams.get('limit') ?? collection.size), collection.size);
    const items = Array.from({ length: to - from }, (_, index) => collection.at(from + index));
    const rest = to < collection.size ? { continue: String(to) } : {};
    response.end(
      JSON.stringify({
        kind: 'List',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(version), ...rest },
        items,
      }),
    );
  }
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on('message', ({ change }: { change: number }) => {
  version += 1;
  const whole = settledOrder(change);
  const annotations = { 'arc.opendefense.cloud/force-at': String(1_600_000_000 + version) };
  const object = versioned({ ...whole, metadata: { ...whole.metadata, annotations } }, version);
  for (const response of watches) response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
});
process.on('disconnect', () => process.exit(0));

function versioned(object: KubeObject, resourceVersion: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(resourceVersion) } };
}
