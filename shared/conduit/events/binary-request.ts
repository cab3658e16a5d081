import type { CloudEvent } from 'cloudevents';
import { ArcError } from '#shared/base/errors';
import { isJson, mediaTypeOf } from './content-type.ts';
import { encodeHeaderText } from './header-text.ts';

const notHeaders = new Set(['data', 'data_base64', 'datacontenttype']);

/**
 * Encodes the event in binary mode: attributes as `ce-` headers, data as JSON body (empty without data). Throws
 * InternalError for data that is not JSON: the conduit sends no other.
 */
export function toBinaryRequest(event: CloudEvent<unknown>): {
  headers: Record<string, string>;
  body: string;
} {
  if (event.data_base64 !== undefined || !isJson(mediaTypeOf(event.datacontenttype))) {
    throw new ArcError('InternalError', `event ${event.type} carries data that is not JSON`);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(event)) {
    if (value !== undefined && !notHeaders.has(name)) headers[`ce-${name}`] = encodeHeaderText(String(value));
  }
  if (event.data === undefined) return { headers, body: '' };
  headers['content-type'] = event.datacontenttype ?? 'application/json';
  return { headers, body: JSON.stringify(event.data) };
}
