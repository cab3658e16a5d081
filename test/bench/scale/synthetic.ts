import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { progress, report } from '../measure/report.ts';
import { changesAtRate, reportLags } from './changes.ts';
import { startBridgeProcess } from './measured-bridge.ts';
import { startSink } from './sink.ts';

/** Half of `objects` are Orders, half their ArtifactWorkflows, all settled; no store holds them. */
export async function benchSynthetic(objects: number): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  const orders = objects / 2;
  const server = fork(path.join(import.meta.dirname, 'synthetic-child.ts'), [String(orders)]);
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  const sink = await startSink();
  const bridge = await startBridgeProcess(folder, {
    ARC_API_SERVER: `http://127.0.0.1:${port}`,
    K_SINK: sink.url,
  });
  try {
    const figure = { bench: 'scale synthetic', n: objects, less: true } as const;
    const { ready } = await bridge.caughtUp();
    report({ ...figure, case: 'bridge ready', ours: ready, unit: 's' });
    const started = await bridge.usage();
    report({ ...figure, case: 'bridge start', ours: started.cpuSeconds, unit: 's of CPU' });
    // Memory that a collector has yet to give back is not the objects'.
    await sleep(20_000);
    const [usage, state] = [await bridge.usage(), await bridge.state()];
    progress(`scale: ${JSON.stringify({ ...usage, ...state, sent: sink.count })}`);
    const perObject = (mebibytes: number) => (mebibytes * 2 ** 20) / objects;
    report({ ...figure, case: 'bridge RSS', ours: usage.mebibytes, unit: 'MiB' });
    report({
      ...figure,
      case: 'bridge RSS for each object',
      ours: perObject(usage.mebibytes),
      unit: 'bytes',
    });
    report({ ...figure, case: 'bridge peak RSS', ours: usage.peakMebibytes, unit: 'MiB' });
    report({ ...figure, case: 'due', ours: state.due, unit: 'duties' });
    const lags = await changesAtRate(sink, orders, async (index, begins) => {
      begins();
      server.send({ change: index });
    });
    reportLags('scale synthetic', objects, lags, await bridge.state());
    const after = await bridge.usage();
    report({ ...figure, case: 'bridge RSS after changes', ours: after.mebibytes, unit: 'MiB' });
  } finally {
    await bridge.stop();
    server.disconnect();
    sink.close();
    await rm(folder, { recursive: true, force: true });
  }
}
