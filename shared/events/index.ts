/** CloudEvents as the conduit sends and reads them: the wake-up, its attributes and its way over HTTP. */
export { toBinaryRequest } from './binary-request.ts';
export { type HeaderSource, parseEvent } from './parse-event.ts';
export { type ParsedWake, parseWake, readWake } from './parse-wake.ts';
export {
  type DeliveryFailure,
  type Wake,
  type WakeData,
  type WakeInput,
  wakeEvent,
  wakeType,
} from './wake.ts';
