import type { IncomingHttpHeaders } from 'node:http';
import type { Owner } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

/** A CloudEvent as the broker carries it: attributes as text (including datacontenttype), data as the received bytes. */
export interface BrokerEvent {
  attributes: Readonly<Record<string, string>>;
  data: Buffer | undefined;
}

const attributeName = /^[a-z0-9]{1,64}$/;
const required = ['id', 'source', 'specversion', 'type'] as const;

/**
 * Parses a CloudEvent 1.0 in binary or structured mode (CloudEvents HTTP binding 1.0). Returns undefined for a message in neither mode.
 * Throws BadRequest, naming the attribute, for a malformed event.
 */
export function readEvent(headers: IncomingHttpHeaders, body: Buffer): BrokerEvent | undefined {
  const contentType = headers['content-type'] ?? '';
  if (/^application\/cloudevents-batch/i.test(contentType)) {
    throw new ArcError('BadRequest', 'batches are not accepted: send one event per request');
  }
  if (/^application\/cloudevents\b/i.test(contentType)) return checked(readStructured(body));
  if (headers['ce-specversion'] === undefined) return undefined;
  const attributes: Record<string, string> = {};
  for (const name in headers) {
    if (name.startsWith('ce-')) attributes[name.slice(3)] = String(headers[name]);
  }
  if (contentType !== '') attributes.datacontenttype = contentType;
  return checked({ attributes, data: body.length > 0 ? body : undefined });
}

function readStructured(body: Buffer): BrokerEvent {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch (caught) {
    throw new ArcError('BadRequest', 'the structured event is not JSON', { cause: caught });
  }
  if (!isRecord(parsed)) {
    throw new ArcError('BadRequest', 'the structured event is not a JSON object');
  }
  const { data, data_base64: encoded, ...rest } = parsed;
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue;
    if (typeof value === 'object')
      throw new ArcError('BadRequest', `attribute ${name} must be text, a number or a boolean`);
    attributes[name] = String(value);
  }
  if (typeof encoded === 'string') return { attributes, data: Buffer.from(encoded, 'base64') };
  if (data === undefined) return { attributes, data: undefined };
  // JSON data is carried as JSON: the default content type of the JSON format (its section 3.1).
  const type = attributes.datacontenttype ?? 'application/json';
  attributes.datacontenttype = type;
  const isText = typeof data === 'string' && !/[/+]json\b/i.test(type);
  return { attributes, data: Buffer.from(isText ? (data as string) : JSON.stringify(data)) };
}

function checked(event: BrokerEvent): BrokerEvent {
  for (const name of required) {
    if (!event.attributes[name]) throw new ArcError('BadRequest', `the event has no ${name}`);
  }
  if (event.attributes.specversion !== '1.0') {
    throw new ArcError(
      'BadRequest',
      `specversion ${event.attributes.specversion} is not supported, only 1.0`,
    );
  }
  const bad = Object.keys(event.attributes).find((name) => !attributeName.test(name));
  if (bad !== undefined)
    throw new ArcError('BadRequest', `"${bad}" is not an attribute name: only a-z and 0-9 are allowed`);
  return event;
}

/** Returns the owner of an event, from the extensions of ARC's events; events without them share one owner. */
export function ownerOf({ attributes }: BrokerEvent): Owner {
  return { namespace: attributes.namespace ?? '', order: attributes.partitionkey ?? '' };
}

/** Returns the headers of the event in binary mode, percent-encoded as the binding requires. */
export function eventHeaders(event: BrokerEvent): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(event.attributes)) {
    if (name === 'datacontenttype') headers['content-type'] = value;
    else headers[`ce-${name}`] = value.replace(/[^\x20-\x7e]+/g, encodeURIComponent);
  }
  return headers;
}

/** Returns the event with these attributes set, or removed where the value is undefined. */
export function withAttributes(event: BrokerEvent, changes: Record<string, string | undefined>): BrokerEvent {
  const attributes: Record<string, string> = { ...event.attributes };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete attributes[name];
    else attributes[name] = value;
  }
  return { attributes, data: event.data };
}
