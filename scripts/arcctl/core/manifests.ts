import { createReadStream } from 'node:fs';
import type { Document } from 'yaml';
import { bytesText } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import type { Order } from '#shared/domain';
import { usage } from './failure.ts';

/** Larger files are not manifests: an API server accepts at most 3 MiB. */
const mostBytes = 8 * 1024 * 1024;

/** Reads the objects in a file, `-` for stdin. Throws a usage error that names the file. */
export async function readManifests(file: string, limit = mostBytes): Promise<KubeObject[]> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > limit) throw usage(`${file} is larger than ${bytesText(limit)}`);
      chunks.push(part);
    }
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught) throw usage(`${file} cannot be read: ${caught.message}`);
    throw caught;
  }
  return parseManifests(Buffer.concat(chunks).toString('utf8'), file);
}

/** Parses YAML or JSON with one or more documents; a List yields its items. */
export async function parseManifests(text: string, where: string): Promise<KubeObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const values = parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw usage(`${where} is not valid YAML: ${error.message}`);
    return resolveAliases(document, where);
  });
  return values
    .filter((value) => value !== null)
    .flatMap((value) => (isRecord(value) && Array.isArray(value.items) ? value.items : [value]))
    .map((value: unknown, index) => {
      if (isObject(value)) return value;
      throw usage(
        `${where}: document ${index + 1} is not a Kubernetes object: it needs apiVersion, kind and metadata.name`,
      );
    });
}

/** Resolves aliases: an unresolved or exponentially large alias is an error of the file as well. */
function resolveAliases(document: Document, where: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (caught) {
    throw usage(`${where} is not valid YAML: ${caught instanceof Error ? caught.message : String(caught)}`);
  }
}

function isObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value.metadata)) return false;
  const { apiVersion, kind, metadata } = value;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata.name === 'string';
}

/** Returns the user-written part of an Order: without status and server-managed metadata. */
export function userWrittenPart({ apiVersion, kind, metadata, spec }: Order): object {
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
