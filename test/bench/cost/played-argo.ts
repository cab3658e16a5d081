import { createSemaphore, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isoSeconds } from '#shared/base/meta';
import { isUnreleased, type Workflow, workflows } from '#shared/domain';
import { type KubeClient, listWatch } from '#shared/kubernetes/client';

/** Argo, played: no pod runs, and every transfer succeeds when it is told to. */
export interface PlayedArgo {
  /** Resolves when so many Workflows were released and are marked Running. */
  running(count: number): Promise<void>;
  /** Marks them all Succeeded; resolves when the last one is. */
  succeed(): Promise<void>;
  /** When the last one appeared that was to run, by `performance.now()`. */
  readonly lastAppeared: number;
  /** Workflows that exist. */
  readonly size: number;
}

const parallel = 16;
const result = JSON.stringify({ outcome: 'succeeded', digest: `sha256:${'a'.repeat(64)}` });

/** Marks each Workflow Running when it is released. Ends with the signal. */
export function playArgo(api: KubeClient, signal: AbortSignal): PlayedArgo {
  const slots = createSemaphore(parallel);
  const seen = new Map<string, Workflow>();
  const marked = new Set<string>();
  let lastAppeared = 0;
  let wake = () => {};

  const write = (workflow: Workflow, status: Workflow['status']) =>
    slots.run(async () => {
      for (;;) {
        try {
          await api.mergePatch(workflows, workflow.metadata, { status }, {}, signal);
          return;
        } catch (caught) {
          if (signal.aborted || ArcError.is(caught, 'NotFound')) return;
          if (!ArcError.is(caught, 'ServiceUnavailable', 'Timeout', 'TooManyRequests')) throw caught;
          await pause(200, signal);
        }
      }
    });
  const start = async (workflow: Workflow) => {
    await write(workflow, { phase: 'Running', startedAt: isoSeconds(Date.now()), progress: '0/1' });
    marked.add(workflow.metadata.uid ?? '');
    wake();
  };
  const loop = listWatch(
    api,
    workflows,
    {
      onChange({ after }) {
        const { uid = '' } = after?.metadata ?? {};
        if (after === undefined || isUnreleased(after) || seen.has(uid)) return;
        seen.set(uid, after);
        lastAppeared = performance.now();
        void start(after);
      },
    },
    { signal },
  );
  return {
    get lastAppeared() {
      return lastAppeared;
    },
    get size() {
      return loop.known.size;
    },
    running: (count) =>
      new Promise((resolve) => {
        wake = () => void (marked.size >= count && resolve());
        wake();
      }),
    async succeed() {
      const outputs = { parameters: [{ name: 'result', value: result }] };
      const end = { phase: 'Succeeded', progress: '1/1', outputs } as const;
      await Promise.all(
        [...seen.values()].map((one) => write(one, { ...end, finishedAt: isoSeconds(Date.now()) })),
      );
    },
  };
}
