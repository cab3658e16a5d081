/** watch-bridge: watches of the API in, CloudEvents that wake objects out. */
export { type Bridge, type BridgeOptions, type Intervals, startBridge } from './bridge.ts';
