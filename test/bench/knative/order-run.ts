import { orders } from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import { followOrder } from '../../../scripts/demo/follow.ts';
import { atZero, auditLog } from '../../cluster/knative/conduit.ts';
import { kubectl } from '../../cluster/knative/kubectl.ts';
import { orderOfCopies } from '../cost/orders.ts';
import { startCpuAccount } from './cpu-account.ts';
import { followWorkflows } from './follow.ts';
import { type Pod, sumByPart } from './parts.ts';

export interface OrderRun {
  /** Seconds from the POST until every Workflow existed, and until the Order had succeeded; of the latter, those after its last Workflow had ended. */
  toWorkflows: number;
  toSucceeded: number;
  toldAfter: number;
  /** Requests to our API by our own parts: `<part> <verb> <resource>`, with the code of a refusal, and how many there were. */
  requests: Map<string, number>;
  /** CPU seconds by part, from the POST until every function was at zero again. */
  cpu: Map<string, number>;
}

export interface OrderSetting {
  client: KubeClient;
  namespace: string;
  /** `repository:tag` in the source registry. */
  image: string;
  pods: ReadonlyMap<string, Pod>;
  /** Of `findPodsRoot`; absent: CPU is not counted. */
  podsRoot: string | undefined;
}

const longestMs = 10 * 60_000;

/** One Order of `size` artifacts, made when all functions are at zero, until they are so again; then deleted with all it made. */
export async function runOrder(setting: OrderSetting, name: string, size: number): Promise<OrderRun> {
  const { client, namespace, podsRoot, pods } = setting;
  const key = { namespace, name };
  const finished = new AbortController();
  const signal = AbortSignal.any([finished.signal, AbortSignal.timeout(longestMs)]);
  const account = podsRoot === undefined ? undefined : startCpuAccount(podsRoot);
  try {
    const since = new Date().toISOString();
    const posted = performance.now();
    const [{ created, ended }, succeeded] = await Promise.all([
      followWorkflows(client, key, size, signal),
      orderAndFollow(setting, name, size, signal),
    ]);
    await atZero();
    const used = account?.stop();
    const requests = await requestsSince(since);
    const cpu = used ? sumByPart(used.pods, pods) : new Map<string, number>();
    if (used) cpu.set('not seen', used.seconds - [...cpu.values()].reduce((sum, each) => sum + each, 0));
    return {
      toWorkflows: (created - posted) / 1000,
      toSucceeded: (succeeded - posted) / 1000,
      toldAfter: (succeeded - ended) / 1000,
      requests,
      cpu,
    };
  } finally {
    account?.stop();
    finished.abort();
    await kubectl('-n', namespace, 'delete', 'order', name, '--ignore-not-found');
    await kubectl('-n', namespace, 'delete', 'workflows,pods', '--all');
  }
}

/** POSTs the Order; resolves with when it had succeeded. */
async function orderAndFollow(
  setting: OrderSetting,
  name: string,
  size: number,
  signal: AbortSignal,
): Promise<number> {
  const { client, namespace } = setting;
  await client.create(orders, orderOfCopies(name, size, setting), signal);
  const { status } = await followOrder(client, { namespace, name }, () => undefined, signal);
  if (status?.phase !== 'Succeeded')
    throw new Error(`Order ${name} ended ${status?.phase}: ${status?.message}`);
  return performance.now();
}

/** By account, verb and resource, as the audit log of the api-server has it. */
async function requestsSince(time: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { user, verb, objectRef, responseStatus, requestReceivedTimestamp } of await auditLog()) {
    const [, account] = /^system:serviceaccount:arc-system:(.*)$/.exec(user.username) ?? [];
    if (account === undefined || requestReceivedTimestamp < time) continue;
    const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
    const { code = 200 } = responseStatus ?? {};
    const what = `${account} ${verb} ${resource}${code < 400 ? '' : ` (${code})`}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}
