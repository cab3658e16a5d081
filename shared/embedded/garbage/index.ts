/** The garbage collector and the namespace controller of the standalone. */
export { type GarbageCollectorOptions, startGarbageCollector } from './collector.ts';
