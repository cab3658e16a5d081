/** CloudEvents that the conduit sends and parses: step events, the HTTP binding, and domain events for subscribers. */
export { toBinaryRequest } from './binary-request.ts';
export { announcements, dataSchemaOf, domainEventType } from './domain-event.ts';
export {
  type ArtifactEventData,
  type DomainEventName,
  domainEventSchemas,
  type OrderEventData,
} from './domain-event-schemas.ts';
export { type HeaderSource, parseEvent } from './parse-event.ts';
export { type ParsedStepEvent, parseStepEvent, readStepEvent } from './parse-step-event.ts';
export { domainEventNames, schemaFiles } from './schema-files.ts';
export {
  type DeliveryFailure,
  eventSource,
  type ObservedObject,
  type StepEvent,
  type StepEventInput,
  type StepObject,
  stepEvent,
  stepEventType,
} from './step-event.ts';
