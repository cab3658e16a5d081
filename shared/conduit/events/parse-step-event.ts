import type { CloudEvent } from 'cloudevents';
import { ArcError, type Cause } from '#shared/base/errors';
import { isSampled, readTraceContext, type TraceContext } from '#shared/base/telemetry';
import { type DutyKind, isObjectName, isStep, type Step, stepNames, steps } from '#shared/domain';
import { longestAnswer, longestAttribute } from './limits.ts';
import { type HeaderSource, headerMap, readEvent } from './parse-event.ts';
import { type DeliveryFailure, type ObservedObject, type StepEvent, stepEventType } from './step-event.ts';

const isArtifactId = /^[0-9a-f]{16}$/;

/** A step event with the other content of its CloudEvent. */
export interface ParsedStepEvent extends StepEvent {
  id: string;
  source: string;
  /** The `time` attribute; 1970 if absent. */
  time: Date;
  partitionKey: string;
  trace?: TraceContext;
  data?: ObservedObject;
}

/**
 * Parses a step event from an HTTP message. Throws BadRequest or UnsupportedMediaType for anything but a CloudEvent (see
 * parseEvent), Invalid for an event of another type, without the attributes of a step event, or with other data.
 */
export function parseStepEvent(headers: HeaderSource, body: string | Uint8Array): ParsedStepEvent {
  const all = headerMap(headers);
  const event = readStepEvent(readEvent(all, body));
  const trace = preferred(event.trace, readTraceContext(all.get('traceparent'), all.get('tracestate')));
  return { ...event, ...(trace !== undefined && { trace }) };
}

/**
 * Returns the sampled one of two trace contexts: tracing brokers put theirs in the headers and leave the event unchanged
 * (CloudEvents, Distributed Tracing extension). Else the event's own, which is the same on every resend.
 */
function preferred(ofEvent: TraceContext | undefined, ofHop: TraceContext | undefined) {
  return ofHop !== undefined && isSampled(ofHop) ? ofHop : (ofEvent ?? ofHop);
}

/** Reads the step event in a parsed event; see parseStepEvent. */
export function readStepEvent(event: CloudEvent<unknown>): ParsedStepEvent {
  if (event.type !== stepEventType) {
    throw new ArcError(
      'Invalid',
      `events of type ${event.type.slice(0, 100)} are not handled here, only ${stepEventType}`,
    );
  }
  const attribute = (name: string): string => {
    const value = event[name];
    if (typeof value !== 'string' || value === '')
      throw new ArcError('Invalid', `the step event lacks the attribute ${name}`);
    if (value.length <= longestAttribute) return value;
    throw new ArcError('Invalid', `the attribute ${name} is longer than ${longestAttribute} characters`);
  };
  const nameIn = (attributeName: string): string => {
    const value = attribute(attributeName);
    // The API would refuse any other name, or take it for another path, at every delivery.
    if (isObjectName(value)) return value;
    throw new ArcError('Invalid', `the attribute ${attributeName} is not a name that an object can have`);
  };
  const trace = readTraceContext(event.traceparent, event.tracestate);
  const failure = failureOf(event);
  const data = event.data === undefined ? undefined : dataOf(event.data);
  const uid = attribute('uid');
  const kind = attribute('kind');
  const { artifact } = event;
  return {
    id: event.id,
    source: event.source,
    time: new Date(event.time ?? 0),
    kind,
    apiVersion: attribute('apiversion'),
    namespace: nameIn('namespace'),
    name: nameIn('name'),
    uid,
    step: stepOf(attribute('step'), kind),
    reason: typeof event.reason === 'string' ? event.reason.slice(0, longestAttribute) : '',
    partitionKey: typeof event.partitionkey === 'string' ? event.partitionkey : uid,
    ...(typeof artifact === 'string' && isArtifactId.test(artifact) && { artifact }),
    ...(trace !== undefined && { trace }),
    ...(data !== undefined && { data }),
    ...(failure !== undefined && { failure }),
  };
}

function stepOf(text: string, kind: string): Step {
  const names = stepNames.filter((name) =>
    (steps[name].kinds as readonly DutyKind[]).some((one) => one === kind),
  );
  if (isStep(text) && names.includes(text)) return text;
  const allowed =
    names.length > 0 ? `for kind ${kind} it is one of ${names.join(', ')}` : `kind ${kind} has no steps`;
  throw new ArcError('Invalid', `the attribute step is not right: ${allowed}`);
}

/** Without a schema library, which would be a third of what a function loads to start. */
function dataOf(value: unknown): ObservedObject {
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
  const data: ObservedObject = {
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
  return new ArcError('Invalid', `the data of the step event is wrong: ${text}`, { details: { causes } });
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

/** Decodes the answer: base64 from current brokers, plain text in Knative's documentation. */
function answerIn(encoded: string): string {
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? Buffer.from(encoded, 'base64').toString('utf8') : encoded;
}
