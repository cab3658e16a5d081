import { createReadStream } from 'node:fs';
import type { Document } from 'yaml';
import { isRecord, type KubeObject } from '#shared/base/meta';
import type { Order } from '#shared/domain';
import { usage } from './failure.ts';

/** More is no manifest that a person wrote, and an API server takes 3 MiB at most. */
const mostBytes = 8 * 1024 * 1024;

/** The objects in a file, `-` for the standard input. Throws wrong usage, which names the file. */
export async function readManifests(file: string): Promise<KubeObject[]> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > mostBytes) throw usage(`${file} is larger than 8 MiB`);
      chunks.push(part);
    }
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught) throw usage(`${file} cannot be read: ${caught.message}`);
    throw caught;
  }
  return parseManifests(Buffer.concat(chunks).toString('utf8'), file);
}

/** The objects of a YAML or JSON text of one or more documents, those of a List one by one. */
export async function parseManifests(text: string, where: string): Promise<KubeObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const values = parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw usage(`${where} is no YAML: ${error.message}`);
    return resolved(document, where);
  });
  return values
    .filter((value) => value !== null)
    .flatMap((value) => (isRecord(value) && Array.isArray(value.items) ? value.items : [value]))
    .map((value: unknown, index) => {
      if (isObject(value)) return value;
      throw usage(
        `${where}: document ${index + 1} is no Kubernetes object: it needs apiVersion, kind and metadata.name`,
      );
    });
}

/** An alias is followed only here: one that leads nowhere, or to very much, is a fault of the file as well. */
function resolved(document: Document, where: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (caught) {
    throw usage(`${where} is no YAML: ${caught instanceof Error ? caught.message : String(caught)}`);
  }
}

function isObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value.metadata)) return false;
  const { apiVersion, kind, metadata } = value;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata.name === 'string';
}

/** What a person writes of an Order: without its status and what the server keeps. */
export function ownPart({ apiVersion, kind, metadata, spec }: Order): object {
  const { name, namespace, labels, annotations } = metadata;
  const filled = (map: Record<string, string> | undefined) => map && Object.keys(map).length > 0;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      ...(filled(labels) && { labels }),
      ...(filled(annotations) && { annotations }),
    },
    spec,
  };
}
