import { setTimeout as sleep } from 'node:timers/promises';
import { arcKinds } from '#shared/domain';
import type { KindDefinition } from '#shared/kubernetes/apiserver';
import type { Client } from './client.ts';
import { crdOf } from './crds.ts';

type Json = Record<string, unknown>;

/** Makes the reference serve our kinds and `more`, from the schemas we publish, and waits until it does. */
export async function prepare(
  ours: Client,
  reference: Client,
  more: readonly KindDefinition[] = [],
): Promise<void> {
  const kinds = [...arcKinds, ...more];
  const { group } = ours.server;
  const document = await json(ours, 'GET', `/openapi/v3/apis/${group}/v1alpha1`);
  const { schemas } = document.components as { schemas: Record<string, Json> };
  for (const definition of kinds) {
    const schema = Object.values(schemas).find((one) => isOf(one, definition.kind));
    if (!schema) throw new Error(`no schema is published for ${definition.kind}`);
    const crd = crdOf(definition, schema, reference.server.group);
    await json(reference, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  }
  for (const { plural } of kinds) await untilServed(reference, plural);
}

function isOf(schema: Json, kind: string): boolean {
  const names = (schema['x-kubernetes-group-version-kind'] ?? []) as { kind: string }[];
  return names.some((one) => one.kind === kind);
}

async function untilServed(client: Client, plural: string): Promise<void> {
  const until = Date.now() + 30_000;
  for (;;) {
    const { code } = await send(client, 'GET', `/apis/${client.server.group}/v1alpha1/${plural}`);
    if (code === 200) return;
    if (Date.now() > until) throw new Error(`${client.server.name} does not serve ${plural}: ${code}`);
    await sleep(100);
  }
}

async function json(client: Client, method: string, path: string, body?: object): Promise<Json> {
  const { code, text } = await send(client, method, path, body);
  if (code >= 300) throw new Error(`${client.server.name}: ${method} ${path}: ${code} ${text}`);
  return JSON.parse(text) as Json;
}

function send(client: Client, method: string, path: string, body?: object) {
  const headers = {
    authorization: `Bearer ${client.server.tokens.admin}`,
    'content-type': 'application/json',
  };
  return client.send({ method, path, headers, body: body && JSON.stringify(body) });
}
