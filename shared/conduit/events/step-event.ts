import { CloudEvent } from 'cloudevents';
import { startTrace, type TraceContext } from '#shared/base/telemetry';
import { cut, orders, type Step } from '#shared/domain';
import { longestAttribute } from './limits.ts';

/** The `source` of every event of the conduit: a URI reference that no restart changes. */
export const eventSource = `/apis/${orders.apiVersion}`;

/** The type of every step event. */
export const stepEventType = 'cloud.opendefense.arc.step.v1';

/** The data of a step event: which object was observed, in which state. It is for people; functions read the object. */
export interface ObservedObject {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** An object whose step is due. */
export interface StepObject {
  kind: string;
  apiVersion: string;
  /** Every kind that has steps lives in one. */
  namespace: string;
  name: string;
  uid: string;
  /** The artifact that an ArtifactWorkflow is a version of, as the sender has seen it: a hint for how to read it. */
  artifact?: string;
}

/** One object and the step that is due for it: the attributes of a `cloud.opendefense.arc.step.v1` event. */
export interface StepEvent extends StepObject {
  step: Step;
  /** For people and logs. */
  reason: string;
  /** Set on events that come from a dead letter sink: what the subscriber had answered. */
  failure?: DeliveryFailure;
}

/** What Knative writes on a dead letter (knativeerrordest, -code, -data). */
export interface DeliveryFailure {
  /** The subscriber's URL. */
  destination: string;
  /** HTTP status; absent when there was no answer. */
  status?: number;
  /** Start of the answer's body, decoded, at most 1,024 characters. */
  body?: string;
}

export interface StepEventInput {
  object: StepObject;
  /** The state of it that was observed. */
  observed: ObservedObject;
  step: Step;
  /** Why it is due; cut to 253 bytes. */
  reason: string;
  /** Uid of the root object: brokers that order keep one root's events in order. */
  partitionKey: string;
  /** What led to it; absent: this event starts a trace of its own. */
  trace?: TraceContext | undefined;
  /** Tells a repetition from the event that it repeats, so that no duplicate filter drops it. */
  epoch?: string | number | undefined;
  /** When it happened. */
  time: Date;
}

/**
 * A step event. Its id is made of its cause, `<uid>/<step>/<observed uid>/<observed resourceVersion>[/<epoch>]`: the same on every resend,
 * different for every cause, and so is the trace that it starts. Throws the SDK's ValidationError for values that are no attributes.
 */
export function stepEvent(input: StepEventInput): CloudEvent<ObservedObject> {
  const { object, observed, step, reason, epoch } = input;
  const cause = [object.uid, step, observed.uid, observed.resourceVersion];
  const id = [...cause, ...(epoch === undefined ? [] : [epoch])].join('/');
  return new CloudEvent<ObservedObject>({
    id,
    type: stepEventType,
    source: eventSource,
    subject: `${object.namespace}/${object.name}`,
    time: input.time.toISOString(),
    datacontenttype: 'application/json',
    data: observed,
    kind: object.kind,
    apiversion: object.apiVersion,
    name: object.name,
    namespace: object.namespace,
    uid: object.uid,
    step,
    ...(reason === '' ? {} : { reason: cut(reason, longestAttribute) }),
    partitionkey: input.partitionKey,
    ...(object.artifact === undefined ? {} : { artifact: object.artifact }),
    ...(input.trace ?? startTrace(id)),
  });
}
