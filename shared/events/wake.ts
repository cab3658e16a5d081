import { CloudEvent } from 'cloudevents';
import { orders, type WakeReason, type WakeTarget } from '#shared/domain';
import { startTrace, type TraceContext } from '#shared/telemetry';

/** The `source` of every event of the conduit: a URI reference that no restart changes. */
export const eventSource = `/apis/${orders.apiVersion}`;

/** The type of every wake-up. */
export const wakeType = 'cloud.opendefense.arc.wake.v1';

/** The data of a wake-up: which object was seen, in which state. It is for people; functions read the object. */
export interface WakeData {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** One object to wake: the attributes of a `cloud.opendefense.arc.wake.v1` event. */
export interface Wake {
  kind: string;
  apiVersion: string;
  /** Every kind that is woken lives in one. */
  namespace: string;
  name: string;
  uid: string;
  reason: WakeReason;
  /** The artifact that an ArtifactWorkflow is a version of, as the sender has seen it: a hint for how to read it. */
  artifact?: string;
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

export interface WakeInput {
  /** The object to wake. */
  target: WakeTarget;
  /** The object whose change is the cause. */
  watched: WakeData;
  reason: WakeReason;
  /** Uid of the root object: brokers that order keep one root's events in order. */
  partitionKey: string;
  /** What led to it; absent: this event starts a trace of its own. */
  trace?: TraceContext | undefined;
  /** Makes a resync differ from the event that it repeats, so that no duplicate filter drops it. */
  epoch?: string | number | undefined;
  /** When it happened. */
  time: Date;
}

/**
 * A wake-up. Its id is made of its cause, `<woken uid>/<watched uid>/<watched resourceVersion>/<reason>[/<epoch>]`: the
 * same on every resend, different for every cause, and so is the trace that it starts. Throws the SDK's ValidationError for values that are no attributes.
 */
export function wakeEvent(input: WakeInput): CloudEvent<WakeData> {
  const { target, watched, reason, epoch } = input;
  const cause = [target.uid, watched.uid, watched.resourceVersion, reason];
  const id = [...cause, ...(epoch === undefined ? [] : [epoch])].join('/');
  return new CloudEvent<WakeData>({
    id,
    type: wakeType,
    source: eventSource,
    subject: `${target.namespace}/${target.name}`,
    time: input.time.toISOString(),
    datacontenttype: 'application/json',
    data: watched,
    kind: target.kind,
    apiversion: target.apiVersion,
    name: target.name,
    namespace: target.namespace,
    uid: target.uid,
    reason,
    partitionkey: input.partitionKey,
    ...(target.artifact === undefined ? {} : { artifact: target.artifact }),
    ...(input.trace ?? startTrace(id)),
  });
}
