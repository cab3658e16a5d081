/** watch-bridge: turns watches of the API into CloudEvents that say which step is due for which object. `main.ts` runs it in a container (docs/decisions/0003-watch-bridge.md). */
export { type Bridge, type BridgeOptions, startBridge } from './bridge.ts';
export type { LocalSink } from './delivery/sink.ts';
