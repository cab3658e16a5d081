/** watch-bridge: turns watches of the API into CloudEvents that wake objects. `main.ts` runs it in a container (docs/decisions/0003-watch-bridge.md). */
export { type Bridge, type BridgeOptions, startBridge } from './bridge.ts';
export type { LocalSink } from './delivery/sink.ts';
export type { Intervals } from './schedule/timers.ts';
