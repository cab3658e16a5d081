/** watch-bridge: turns watches of the API into CloudEvents that wake objects. `main.ts` runs it in a container. */
export { type Bridge, type BridgeOptions, startBridge } from './bridge.ts';
export type { Intervals } from './schedule/timers.ts';
