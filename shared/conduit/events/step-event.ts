import { CloudEvent } from 'cloudevents';
import { startTrace, type TraceContext } from '#shared/base/telemetry';
import { cut, orders, type Step } from '#shared/domain';
import { longestAttribute } from './limits.ts';

/** The `source` of every event of the conduit: a constant URI reference. */
export const eventSource = `/apis/${orders.apiVersion}`;

/** The type of every step event. */
export const stepEventType = 'cloud.opendefense.arc.step.v1';

/** The data of a step event: the observed object and its state. For people; functions read the object. */
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
  /** Every kind with steps is namespaced. */
  namespace: string;
  name: string;
  uid: string;
  /** The artifact that an ArtifactWorkflow is a version of, as observed by the sender: a hint for how to read the object. */
  artifact?: string;
}

/** An object and its due step: the attributes of a `cloud.opendefense.arc.step.v1` event. */
export interface StepEvent extends StepObject {
  step: Step;
  /** For people and logs. */
  reason: string;
  /** Set on events from a dead letter sink: the subscriber's last answer. */
  failure?: DeliveryFailure;
}

/** The attributes that Knative adds to a dead letter (knativeerrordest, -code, -data). */
export interface DeliveryFailure {
  /** The subscriber's URL. */
  destination: string;
  /** HTTP status; absent when there was no answer. */
  status?: number;
  /** Beginning of the answer's body, decoded, at most 1,024 characters. */
  body?: string;
}

export interface StepEventInput {
  object: StepObject;
  /** Its observed state. */
  observed: ObservedObject;
  step: Step;
  /** Why the step is due; cut to 253 bytes. */
  reason: string;
  /** Uid of the root object: ordering brokers keep the events of a root in order. */
  partitionKey: string;
  /** The trace of the cause; absent: this event starts a trace. */
  trace?: TraceContext | undefined;
  /** Distinguishes a repetition from the event it repeats, so that duplicate filters do not drop it. */
  epoch?: string | number | undefined;
  /** When it happened. */
  time: Date;
}

/**
 * Returns a step event. Its id is derived from its cause, `<uid>/<step>/<observed uid>/<observed resourceVersion>[/<epoch>]`: equal on every
 * resend and different for every cause, like the trace that it starts. Throws the SDK's ValidationError for invalid attributes.
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
