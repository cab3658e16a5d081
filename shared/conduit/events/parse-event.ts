import { CloudEvent } from 'cloudevents';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { isJson, mediaTypeOf } from './content-type.ts';
import { decodeHeaderText } from './header-text.ts';

/** Headers of fetch and of node:http. */
export type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers by lower-case names, repeated values joined. */
export type HeaderMap = ReadonlyMap<string, string>;

type Attributes = Record<string, string | number | boolean>;

/**
 * Parses one CloudEvent 1.0 from an HTTP message, in binary or structured mode, with JSON data or none. Rejects what
 * the SDK's own parser accepts or silently repairs: a missing id (which it invents, so that duplicates go unnoticed),
 * an unknown specversion, a batch, a content type in other letters. A missing `time` becomes the time of parsing.
 *
 * Throws BadRequest for anything but a CloudEvent, UnsupportedMediaType for batches and for data that is not JSON.
 */
export function parseEvent(headers: HeaderSource, body: string | Uint8Array): CloudEvent<unknown> {
  return readEvent(headerMap(headers), body);
}

/** As `parseEvent`, for headers that are used for more than the event. */
export function readEvent(all: HeaderMap, body: string | Uint8Array): CloudEvent<unknown> {
  const media = mediaTypeOf(all.get('content-type'));
  const text = typeof body === 'string' ? body : decodeUtf8(body);
  if (media === 'application/cloudevents+json') return build(structured(text));
  if (media?.startsWith('application/cloudevents')) {
    throw new ArcError('UnsupportedMediaType', `${media} is not accepted: send one event, binary or as JSON`);
  }
  return build(binary(all, media, text));
}

function binary(headers: HeaderMap, media: string | undefined, text: string) {
  const attributes: Attributes = {};
  for (const [name, value] of headers) {
    if (name.startsWith('ce-')) attributes[name.slice(3)] = decodeHeaderText(value);
  }
  delete attributes.datacontenttype;
  requireAttributes(attributes);
  if (text === '') return { attributes, data: undefined };
  if (!isJson(media))
    throw new ArcError('UnsupportedMediaType', `data of type ${media} is not accepted: send JSON`);
  return {
    attributes: { ...attributes, datacontenttype: media ?? 'application/json' },
    data: parseJson(text, 'data'),
  };
}

function structured(text: string) {
  const event = parseJson(text, 'event');
  if (!isRecord(event)) {
    throw new ArcError('BadRequest', 'a structured event must be one JSON object');
  }
  const { data: given, data_base64: encoded, ...rest } = event;
  // JSON null means absent, for attributes as well (CloudEvents JSON format, 2.2).
  const data = given ?? undefined;
  const data_base64 = encoded ?? undefined;
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null) attributes[name] = attributeValue(name, value);
  }
  const media = mediaTypeOf(String(attributes.datacontenttype ?? ''));
  const present = data !== undefined || data_base64 !== undefined;
  if (present && !isJson(media)) {
    throw new ArcError('UnsupportedMediaType', `data of type ${media} is not accepted: send JSON`);
  }
  return {
    attributes,
    data: data_base64 === undefined ? data : fromBase64(data, data_base64),
  };
}

function requireAttributes(attributes: Attributes): void {
  for (const name of ['specversion', 'id', 'source', 'type']) {
    const value = attributes[name];
    if (typeof value !== 'string' || value === '') {
      throw new ArcError('BadRequest', `not a CloudEvent: attribute ${name} is missing`);
    }
  }
  if (attributes.specversion !== '1.0') {
    throw new ArcError('BadRequest', 'only events of specversion 1.0 are accepted');
  }
}

function build({ attributes, data }: { attributes: Attributes; data: unknown }): CloudEvent<unknown> {
  requireAttributes(attributes);
  const bad = Object.keys(attributes).find((name) => !/^[a-z0-9]+$/.test(name) || name === 'data');
  if (bad !== undefined) {
    throw new ArcError(
      'BadRequest',
      `${JSON.stringify(bad.slice(0, 40))} is not an attribute name (a-z, 0-9)`,
    );
  }
  if (attributes.time !== undefined && Number.isNaN(Date.parse(String(attributes.time)))) {
    throw new ArcError('BadRequest', 'attribute time is not an RFC 3339 time');
  }
  try {
    return new CloudEvent<unknown>({ ...attributes, ...(data !== undefined && { data }) });
  } catch (caught) {
    throw ArcError.from(caught, 'BadRequest');
  }
}

function attributeValue(name: string, value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value)) {
    return value as string | number | boolean;
  }
  throw new ArcError(
    'BadRequest',
    `attribute ${name.slice(0, 40)} must be a string, an integer or a boolean`,
  );
}

function fromBase64(data: unknown, encoded: unknown): unknown {
  const valid = typeof encoded === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(encoded);
  if (!valid || data !== undefined) {
    throw new ArcError('BadRequest', 'data_base64 must be base64 text, and stand alone');
  }
  return parseJson(decodeUtf8(Buffer.from(encoded, 'base64')), 'data');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (caught) {
    throw new ArcError('BadRequest', 'the event holds bytes that are not UTF-8', { cause: caught });
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (caught) {
    // The parser's own message quotes the text, which may be anything.
    throw new ArcError('BadRequest', `the ${what} is not JSON`, { cause: caught });
  }
}

/** Returns the headers by lower-case names; repeated headers are joined. */
export function headerMap(headers: HeaderSource): Map<string, string> {
  if (headers instanceof Headers) return new Map(headers);
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      all.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(', '));
  }
  return all;
}
