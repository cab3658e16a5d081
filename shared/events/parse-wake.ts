import type { CloudEvent } from 'cloudevents';
import { isObjectName, isWakeReason, type WakeReason, wakeReasonNames } from '#shared/domain';
import { ArcError, type Cause } from '#shared/errors';
import { isSampled, readTraceContext, type TraceContext } from '#shared/telemetry';
import { longestAnswer, longestAttribute } from './limits.ts';
import { type HeaderSource, headerMap, readEvent } from './parse-event.ts';
import { type DeliveryFailure, type Wake, type WakeData, wakeType } from './wake.ts';

const isArtifactId = /^[0-9a-f]{16}$/;

/** A wake-up with what its event says beside the object. */
export interface ParsedWake extends Wake {
  id: string;
  source: string;
  /** When it happened; 1970 if the event does not say. */
  time: Date;
  partitionKey: string;
  trace?: TraceContext;
  data?: WakeData;
}

/**
 * Reads a wake-up from an HTTP message. Throws BadRequest or UnsupportedMediaType for anything but a CloudEvent (see
 * parseEvent), Invalid for an event of another type, without the attributes of a wake-up, or with data of another shape.
 */
export function parseWake(headers: HeaderSource, body: string | Uint8Array): ParsedWake {
  const all = headerMap(headers);
  const wake = readWake(readEvent(all, body));
  const trace = preferred(wake.trace, readTraceContext(all.get('traceparent'), all.get('tracestate')));
  return { ...wake, ...(trace !== undefined && { trace }) };
}

/**
 * Of two contexts, the one that is recorded: brokers that trace put theirs in the headers and leave the event alone
 * (CloudEvents, Distributed Tracing extension). Else the event's own, which no resend changes.
 */
function preferred(ofEvent: TraceContext | undefined, ofHop: TraceContext | undefined) {
  return ofHop !== undefined && isSampled(ofHop) ? ofHop : (ofEvent ?? ofHop);
}

/** The wake-up in a parsed event; see parseWake. */
export function readWake(event: CloudEvent<unknown>): ParsedWake {
  if (event.type !== wakeType) {
    throw new ArcError(
      'Invalid',
      `events of type ${event.type.slice(0, 100)} are not handled here, only ${wakeType}`,
    );
  }
  const attribute = (name: string): string => {
    const value = event[name];
    if (typeof value !== 'string' || value === '')
      throw new ArcError('Invalid', `the wake-up lacks the attribute ${name}`);
    if (value.length <= longestAttribute) return value;
    throw new ArcError('Invalid', `the attribute ${name} is longer than ${longestAttribute} characters`);
  };
  const nameIn = (attributeName: string): string => {
    const value = attribute(attributeName);
    // The API would refuse another name, or take it for another path, at every delivery.
    if (isObjectName(value)) return value;
    throw new ArcError('Invalid', `the attribute ${attributeName} is not a name that an object can have`);
  };
  const trace = readTraceContext(event.traceparent, event.tracestate);
  const failure = failureOf(event);
  const data = event.data === undefined ? undefined : dataOf(event.data);
  const uid = attribute('uid');
  const { artifact } = event;
  return {
    id: event.id,
    source: event.source,
    time: new Date(event.time ?? 0),
    kind: attribute('kind'),
    apiVersion: attribute('apiversion'),
    namespace: nameIn('namespace'),
    name: nameIn('name'),
    uid,
    reason: reasonOf(attribute('reason')),
    partitionKey: typeof event.partitionkey === 'string' ? event.partitionkey : uid,
    ...(typeof artifact === 'string' && isArtifactId.test(artifact) && { artifact }),
    ...(trace !== undefined && { trace }),
    ...(data !== undefined && { data }),
    ...(failure !== undefined && { failure }),
  };
}

function reasonOf(text: string): WakeReason {
  if (isWakeReason(text)) return text;
  throw new ArcError('Invalid', `the attribute reason must be one of ${wakeReasonNames.join(', ')}`);
}

/** By hand: every function parses wake-ups, and a schema library would be a third of what it loads to start. */
function dataOf(value: unknown): WakeData {
  if (typeof value !== 'object' || value === null)
    throw wrongData([{ field: 'data', message: 'expected an object' }]);
  const given = new Map<string, unknown>(Object.entries(value));
  const wrong: { field: string; message: string }[] = [];
  const text = (name: string, least: number): string => {
    const found = given.get(name);
    if (typeof found === 'string' && found.length >= least) return found;
    wrong.push({
      field: `data.${name}`,
      message: least > 0 ? 'expected text that is not empty' : 'expected text',
    });
    return '';
  };
  const data: WakeData = {
    apiVersion: text('apiVersion', 1),
    kind: text('kind', 1),
    ...(given.get('namespace') !== undefined && { namespace: text('namespace', 0) }),
    name: text('name', 1),
    uid: text('uid', 0),
    resourceVersion: text('resourceVersion', 0),
  };
  if (wrong.length > 0) throw wrongData(wrong);
  return data;
}

function wrongData(wrong: readonly { field: string; message: string }[]): ArcError {
  const causes: Cause[] = wrong.map((each) => ({ reason: 'FieldValueInvalid', ...each }));
  const text = causes.map((cause) => `${cause.field}: ${cause.message}`).join('; ');
  return new ArcError('Invalid', `the data of the wake-up is wrong: ${text}`, { details: { causes } });
}

function failureOf(event: CloudEvent<unknown>): DeliveryFailure | undefined {
  const { knativeerrordest: destination, knativeerrorcode: code, knativeerrordata: encoded } = event;
  if (typeof destination !== 'string') return undefined;
  // An integer from the Go brokers, text from Kafka's.
  const status = Number(code);
  return {
    destination,
    ...(Number.isInteger(status) && status > 0 && { status }),
    ...(typeof encoded === 'string' && { body: answerIn(encoded).slice(0, longestAnswer) }),
  };
}

/** Base64 from the brokers of today, plain text in Knative's pages. */
function answerIn(encoded: string): string {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? Buffer.from(encoded, 'base64').toString('utf8') : encoded;
}
