import { ArcError } from '#shared/base/errors';
import { namespaceOf, readSettings } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  endOfLog,
  type FailedStep,
  isOn,
  isPodOf,
  type LogTail,
  mainContainer,
  mayQuoteLog,
  podSelector,
  pods,
} from '#shared/domain';

/** The tail is optional: a node that is slow to answer must not delay a status. */
const readTimeoutMs = 5_000;
/** Failed pods read per Workflow. */
const mostPods = 50;
/** The container runtime splits lines at 16 KiB; the rest of the answer is dropped. */
const longestLine = 16_384;

/**
 * Reads the end of the failed step's log. undefined if there is none, if the operator has switched the feature off, or if it cannot be read:
 * the pod is gone, or the namespace was not given to ARC.
 */
export async function readTail(context: Context, step: FailedStep): Promise<LogTail | undefined> {
  const settings = await readSettings(context);
  if (!isOn('logTail', settings)) return undefined;
  const { 'logTail.lines': lines = 30, 'logTail.bytes': bytes = 4_096 } = settings;
  const { metadata } = step.run;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(readTimeoutMs)]);
  try {
    const selection = {
      ...namespaceOf(step.run),
      labelSelector: podSelector([metadata.name]),
      fieldSelector: 'status.phase=Failed',
      limit: mostPods,
    };
    const { items } = await context.api.list(pods, selection, signal);
    const pod = items.find((one) => isPodOf(one, step));
    if (pod === undefined) return undefined;
    const named: LogTail = { namespace: metadata.namespace ?? '', pod: pod.metadata.name };
    if (!mayQuoteLog(pod)) return named;
    const options = { container: mainContainer, tailLines: lines, limitBytes: lines * longestLine };
    return {
      ...named,
      text: endOfLog(await context.api.log(pod.metadata, options, signal), { lines, bytes }),
    };
  } catch (caught) {
    context.signal.throwIfAborted();
    context.log.info(
      { err: ArcError.from(caught), workflow: metadata.name },
      'the log of a failed step was not read',
    );
    return undefined;
  }
}
