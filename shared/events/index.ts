/** CloudEvents as the conduit sends and reads them: wake-ups, the HTTP binding, and domain events for subscribers. */
export { toBinaryRequest } from './binary-request.ts';
export { artifactEvent, dataSchemaOf, domainEventType, orderEvent } from './domain-event.ts';
export {
  type ArtifactEventData,
  type DomainEventName,
  domainEventSchemas,
  type OrderEventData,
} from './domain-event-schemas.ts';
export { type HeaderSource, parseEvent } from './parse-event.ts';
export { type ParsedWake, parseWake, readWake } from './parse-wake.ts';
export { domainEventNames, schemaFiles } from './schema-files.ts';
export {
  type DeliveryFailure,
  eventSource,
  type Wake,
  type WakeData,
  type WakeInput,
  wakeEvent,
  wakeType,
} from './wake.ts';
