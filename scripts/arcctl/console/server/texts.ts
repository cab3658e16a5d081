import { ArcError } from '#shared/base/errors';
import { type Order, pods } from '#shared/domain';
import type { Key, KubeClient } from '#shared/kubernetes/client';
import { userWrittenPart } from '../../core/manifests.ts';
import { readOrder, readTree, type Unread } from '../../model/read-tree.ts';
import { reasonText } from '../../model/tree.ts';

/** Maximum length of a text on a page. */
const mostCharacters = 512 * 1024;
const logBounds = { container: 'main', tailLines: 1000, limitBytes: 256 * 1024 };
const mostPods = 5;

/** Returns the user-written part of an Order as YAML. */
export async function manifestOf(order: Order): Promise<string> {
  const { stringify } = await import('yaml');
  const { name, namespace } = order.metadata;
  const text = stringify(userWrittenPart(order), { lineWidth: 0 });
  if (text.length <= mostCharacters) return text;
  return `${text.slice(0, mostCharacters)}\n# truncated: kubectl get order ${name} -n ${namespace} -o yaml shows everything`;
}

/** Returns the end of the logs of an artifact's last run; for deleted pods, the part that the status keeps. */
export async function logsOf(
  api: KubeClient,
  key: Required<Key>,
  index: number,
  signal: AbortSignal,
): Promise<{ head: string; text: string }[]> {
  const unread: Unread = new Map();
  const { artifacts } = await readTree(api, await readOrder(api, key, signal), unread, signal);
  const artifact = artifacts.find((each) => each.index === index);
  if (!artifact)
    throw new ArcError('NotFound', 'the Order no longer has this artifact: go back to the Order');
  const [run] = artifact.versions.find(({ inForce }) => inForce)?.runs ?? [];
  const status = { head: `Status of ${artifact.name}`, text: reasonText(artifact) || artifact.phase };
  const logs = (run?.pods ?? []).slice(0, mostPods).map(async ({ name }) => {
    return { head: `Pod ${name}`, text: await logOf(api, { namespace: key.namespace, name }, signal) };
  });
  const missing = unread.get(pods.plural);
  return [
    status,
    ...(missing === undefined ? [] : [{ head: 'Pods', text: missing }]),
    ...(await Promise.all(logs)),
  ];
}

async function logOf(api: KubeClient, pod: Key, signal: AbortSignal): Promise<string> {
  try {
    const text = await api.log(pod, logBounds, signal);
    return text === '' ? 'The log is empty.' : text;
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound', 'BadRequest', 'Forbidden')) throw caught;
    return `No log: ${caught.message}`;
  }
}
