import { ArcError } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import type { Kind, WatchEvent } from './client.ts';
import { readLines } from './lines.ts';
import { errorFromStatus } from './transport/status.ts';

// Ten times the largest object of an API server with etcd.
const maxLineLength = 16 * 1024 * 1024;

/**
 * Yields the events of a watch response (one JSON document per line, as in k8s.io/apimachinery pkg/watch). Rejects with the reason of the
 * Status of an ERROR event, and with InternalError for a line that is not a watch event.
 */
export async function* watchEvents<T extends KubeObject>(
  kind: Kind<T>,
  chunks: AsyncIterable<Uint8Array>,
  limit = maxLineLength,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of readLines(chunks, limit)) yield parseEvent(kind, line);
}

function parseEvent<T extends KubeObject>(kind: Kind<T>, line: string): WatchEvent<T> {
  const event = parseLine(line);
  const object = isRecord(event) ? event.object : undefined;
  if (!isRecord(event) || !isRecord(object)) throw notAnEvent();
  if (event.type === 'ERROR') throw errorFromStatus(object);
  const { metadata } = object;
  if (!isRecord(metadata)) throw notAnEvent();
  if (event.type === 'BOOKMARK')
    return { type: 'BOOKMARK', resourceVersion: String(metadata.resourceVersion) };
  const named = typeof metadata.name === 'string' && typeof metadata.resourceVersion === 'string';
  if (!named || !isChange(event.type)) throw notAnEvent();
  return { type: event.type, object: asKind(kind, object) };
}

/**
 * Returns an object with the apiVersion and kind of its kind, which items of typed lists lack and PartialObjectMetadata replaces. Does not
 * validate or drop fields.
 */
export function asKind<T extends KubeObject>(kind: Kind<T>, object: Record<string, unknown>): T {
  const { apiVersion, kind: name } = kind;
  const own = object.kind === 'PartialObjectMetadata' ? { apiVersion, kind: name } : {};
  return { apiVersion, kind: name, ...object, ...own } as T;
}

function isChange(type: unknown): type is 'ADDED' | 'MODIFIED' | 'DELETED' {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (caught) {
    throw new ArcError('InternalError', 'the watch contains a line that is not JSON', { cause: caught });
  }
}

function notAnEvent(): ArcError {
  return new ArcError('InternalError', 'the watch contains a line that is not a watch event');
}
