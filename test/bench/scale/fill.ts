import { Etcd3 } from 'etcd3';
import type { KubeObject } from '#shared/base/meta';
import { arcKinds } from '#shared/domain';
import type { KindDefinition } from '#shared/kubernetes/apiserver';
import { openEtcdStore } from '#shared/kubernetes/storage';
import { objectKey } from '../../../shared/kubernetes/apiserver/registry/keys.ts';
import { encodeObject } from '../../../shared/kubernetes/apiserver/registry/stored-object.ts';
import { settledInputs, settledOrder, settledWorkflow } from './settled.ts';

const parallel = 64;

/** Writes so many settled Orders with their ArtifactWorkflows and what they refer to, as our API server stores them. Resolves with their bytes. */
export async function fill(endpoint: string, orders: number): Promise<number> {
  const store = await openEtcdStore({ endpoints: [endpoint], compactionInterval: 0 });
  const objects = allObjects(orders);
  let bytes = 0;
  const work = async () => {
    for (const object of objects) {
      const definition = definitionOf(object);
      const { namespace = '', name } = object.metadata;
      const value = encodeObject(definition, object as Parameters<typeof encodeObject>[1]);
      await store.create(objectKey(definition, namespace, name), value);
      bytes += value.byteLength;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  await store.close();
  return bytes;
}

function* allObjects(orders: number): Generator<KubeObject> {
  yield* settledInputs(orders);
  for (let index = 0; index < orders; index += 1) {
    yield settledOrder(index);
    yield settledWorkflow(index);
  }
}

function definitionOf({ kind }: KubeObject): KindDefinition {
  const found = arcKinds.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`ARC has no kind ${kind}`);
  return found;
}

/** The size of etcd's file in MiB. */
export async function databaseSize(endpoint: string): Promise<number> {
  const client = new Etcd3({ hosts: endpoint });
  try {
    return Number((await client.maintenance.status()).dbSize) / 2 ** 20;
  } finally {
    client.close();
  }
}
