import { CloudEvent } from 'cloudevents';
import { instantOf, isoSeconds, ownerOfKind } from '#shared/base/meta';
import {
  type Announced,
  type ArtifactMilestone,
  type ArtifactWorkflow,
  artifactMilestones,
  currentWorkflow,
  cut,
  type Milestone,
  type Order,
  type OrderMilestone,
  orderMilestones,
  phaseOf,
  rootUid,
} from '#shared/domain';
import type { ArtifactEventData, DomainEventName, OrderEventData } from './domain-event-schemas.ts';
import { longestEventDigest, longestEventMessage, longestEventName } from './limits.ts';
import { eventSource } from './step-event.ts';

/** Returns `cloud.opendefense.arc.order.accepted.v1` and the like. */
export function domainEventType(name: DomainEventName): string {
  return `cloud.opendefense.arc.${name}.v1`;
}

/** Returns the URI of the data's schema: absolute, and distinct per version. */
export function dataSchemaOf(name: DomainEventName): string {
  return `https://arc.opendefense.cloud/schemas/${domainEventType(name)}.json`;
}

/** A milestone of an object with its event. */
export interface Announcement {
  /** The value of `status.announced` after the delivery of the event. */
  announced: string;
  name: OrderMilestone | ArtifactMilestone;
  event: CloudEvent<OrderEventData> | CloudEvent<ArtifactEventData>;
}

/** Returns the events of the milestones that an object's status shows and that were not announced, in order; `since` as for `orderMilestones`. */
export function announcements(object: Announced, now: Date, since?: string): Announcement[] {
  if (object.kind === 'Order') {
    const order = object as Order;
    return orderMilestones(order, now, since).map((one) => ({
      announced: one.announced,
      name: one.name,
      event: orderEvent(order, one),
    }));
  }
  const workflow = object as ArtifactWorkflow;
  return artifactMilestones(workflow, now, since).map((one) => ({
    announced: one.announced,
    name: one.name,
    event: artifactEvent(workflow, one),
  }));
}

/** Returns the event of an Order's milestone, from the current state of the Order. */
export function orderEvent(order: Order, milestone: Milestone<OrderMilestone>): CloudEvent<OrderEventData> {
  const { metadata, status = {} } = order;
  const { namespace = '', name, uid = '' } = metadata;
  const none = { total: 0, invalid: 0, pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
  return domainEvent(`order.${milestone.name}`, order, milestone, {
    namespace,
    name,
    uid,
    generation: status.observedGeneration ?? 1,
    phase: status.phase ?? 'Pending',
    ...messageOf(status),
    counts: status.counts ?? none,
    ...timesOf(status),
  });
}

/** Returns the event of an ArtifactWorkflow's milestone, from the current state of the ArtifactWorkflow. */
export function artifactEvent(
  workflow: ArtifactWorkflow,
  milestone: Milestone<ArtifactMilestone>,
): CloudEvent<ArtifactEventData> {
  const { metadata, spec, status = {} } = workflow;
  const { namespace = '', name, uid = '' } = metadata;
  const order = ownerOfKind(workflow, 'Order');
  return domainEvent(`artifact.${milestone.name}`, workflow, milestone, {
    namespace,
    name,
    uid,
    ...(order && { order: { name: order.name, uid: order.uid } }),
    ...(spec.artifact?.name && { artifact: cut(spec.artifact.name, longestEventName) }),
    ...(spec.type && { type: cut(spec.type, longestEventName) }),
    ...(spec.srcRef && { source: cut(spec.srcRef.name, longestEventName) }),
    ...(spec.dstRef && { destination: cut(spec.dstRef.name, longestEventName) }),
    attempt: currentWorkflow(workflow).attempt,
    ...(spec.cron && timeAs('scheduledTime', status.lastScheduled)),
    phase: phaseOf(workflow),
    ...messageOf(status),
    // Before success the digest is that of an earlier run.
    ...(milestone.name === 'succeeded' &&
      status.results?.digest && { digest: cut(status.results.digest, longestEventDigest) }),
    // A schedule's times span several runs.
    ...(spec.cron ? {} : timesOf(status)),
  });
}

/**
 * Builds the event. Its id consists of the object's uid, the occurrence and the milestone: equal for resends, different for every
 * other event. The other attributes are those of a step event, so that Triggers filter both in the same way.
 */
function domainEvent<Data>(
  name: DomainEventName,
  object: Order | ArtifactWorkflow,
  milestone: Milestone<string>,
  data: Data,
): CloudEvent<Data> {
  const { namespace = '', name: objectName, uid = '' } = object.metadata;
  return new CloudEvent<Data>({
    id: `${uid}/${milestone.occurrence}/${milestone.name}`,
    type: domainEventType(name),
    source: eventSource,
    subject: `${namespace}/${objectName}`,
    time: milestone.time.toISOString(),
    datacontenttype: 'application/json',
    dataschema: dataSchemaOf(name),
    data,
    kind: object.kind,
    apiversion: object.apiVersion,
    name: objectName,
    namespace,
    uid,
    partitionkey: rootUid(object),
  });
}

function messageOf({ message }: { message?: string }): { message?: string } {
  return message === undefined ? {} : { message: cut(message, longestEventMessage) };
}

interface Times {
  startTime?: string;
  completionTime?: string;
}

function timesOf({ startTime, completionTime }: Times): Times {
  return { ...timeAs('startTime', startTime), ...timeAs('completionTime', completionTime) };
}

/** Omits the field unless the text is a time. */
function timeAs<Field extends string>(field: Field, text: string | undefined) {
  const ms = instantOf(text);
  return ms === undefined ? {} : ({ [field]: isoSeconds(ms) } as { [F in Field]: string });
}
