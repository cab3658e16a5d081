/** The garbage collector and the namespace controller of the standalone. */
export { type GarbageCollectorOptions, type StoredKind, startGarbageCollector } from './collector.ts';
