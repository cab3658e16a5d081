/** CloudEvents as the conduit sends and reads them: the wake-up, its way over HTTP, and what subscribers are told. */
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
export { eventSource } from './source.ts';
export {
  type DeliveryFailure,
  type Wake,
  type WakeData,
  type WakeInput,
  wakeEvent,
  wakeType,
} from './wake.ts';
