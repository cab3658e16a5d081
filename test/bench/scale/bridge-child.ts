/** The watch-bridge as it leads in a cluster, without the election, which needs a Lease. It tells over IPC when it is ready, and how deep its queue is. */

import { createLogger, createMetrics } from '#shared/base/telemetry';
import { limitHeapGrowth } from '#shared/conduit/runtime';
import { createKubeClient, programAccess } from '#shared/kubernetes/client';
import { startBridge } from '../../../functions/watch-bridge/index.ts';

/** What it answers when it is asked. */
export interface BridgeState {
  ready: boolean;
  /** Events that wait, and duties that are due. */
  depth: number;
  due: number;
  /** In MiB: what of the JavaScript heap is used, and what is beside it. */
  heap: number;
  external: number;
}

limitHeapGrowth();
const control = new AbortController();
process.on('disconnect', () => control.abort());
const { ARC_API_SERVER: server = '', ARC_TOKEN_FILE, K_SINK = '' } = process.env;
const access = ARC_TOKEN_FILE === undefined ? { server } : await programAccess(process.env);
const log = createLogger({ name: 'bridge', level: 'error' });
const metrics = createMetrics();
const bridge = startBridge({
  api: createKubeClient({ ...access, userAgent: 'arc-watch-bridge' }),
  sink: { url: new URL(K_SINK) },
  log,
  metrics,
  signal: control.signal,
});
process.on('message', () => {
  const { heapUsed, external } = process.memoryUsage();
  const due = Number(/^arc_bridge_due (\d+)$/m.exec(metrics.expose())?.[1]);
  const mebibytes = { heap: heapUsed / 2 ** 20, external: external / 2 ** 20 };
  const state: BridgeState = { ready: bridge.ready, depth: bridge.depth, due, ...mebibytes };
  process.send?.(state);
});
await bridge.done;
process.exit(0);
