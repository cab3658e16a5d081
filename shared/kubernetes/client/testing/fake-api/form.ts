import type { KubeObject } from '#shared/base/meta';
import { type ApiRequest, groupOf } from './resources.ts';

/** Returns an object or list in the requested representation: whole, or as meta.k8s.io/v1 PartialObjectMetadata. */
export function inForm({ metadataOnly }: ApiRequest, body: object): object {
  if (!metadataOnly) return body;
  if ('items' in body && Array.isArray(body.items))
    return { ...body, ...partial('PartialObjectMetadataList'), items: body.items.map(metadataOf) };
  return 'metadata' in body ? metadataOf(body as KubeObject) : body;
}

/** Returns the Status of a DELETE that has removed the object. */
export function deletedStatus({ apiVersion, resource }: ApiRequest, { metadata }: KubeObject): object {
  const group = groupOf(apiVersion);
  const details = { name: metadata.name, ...(group !== '' && { group }), kind: resource, uid: metadata.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

function metadataOf({ metadata }: KubeObject): object {
  return { ...partial('PartialObjectMetadata'), metadata };
}

function partial(kind: string) {
  return { apiVersion: 'meta.k8s.io/v1', kind };
}
