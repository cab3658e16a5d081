import { ArcError } from '#shared/base/errors';
import { settingsMap } from '#shared/conduit/function-kit';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  configMaps,
  isSettingKey,
  parseSettings,
  settingsTable,
} from '#shared/domain';
import type { Key, KubeClient } from '#shared/kubernetes/client';
import { describeFailure } from '../../core/failure.ts';
import type { Cluster } from '../../core/session.ts';
import { clusterChecks } from '../../model/cluster-checks.ts';
import { namespaceChecks } from '../../model/namespace-checks.ts';
import { readOrder, readTree, type Unread } from '../../model/read-tree.ts';
import { inputsOf } from '../../model/versions.ts';
import type { DiffLine, Finding, Runs, Settings } from '../api.ts';

/** Returns the Workflows and pods of an Order, for its graph. */
export async function runsOf(api: KubeClient, key: Required<Key>, signal: AbortSignal): Promise<Runs> {
  const unread: Unread = new Map();
  const { artifacts } = await readTree(api, await readOrder(api, key, signal), unread, signal);
  return {
    artifacts: artifacts.map(({ index, versions }) => {
      return { index, versions: versions.map(({ name, runs }) => ({ name, runs })) };
    }),
    unread: [...unread.values()],
  };
}

/** Returns the line-by-line difference between the inputs of two versions, as YAML. */
export async function diffOf(
  api: KubeClient,
  namespace: string,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<DiffLine[]> {
  const [{ diffLines }, { stringify }] = await Promise.all([import('diff'), import('yaml')]);
  const read = async (name: string) =>
    stringify(inputsOf(await readVersion(api, { namespace, name }, signal)), { lineWidth: 0 });
  const [before, after] = await Promise.all([read(from), read(to)]);
  return diffLines(before, after).flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value
      .trimEnd()
      .split('\n')
      .map((text): DiffLine => ({ kind, text }));
  });
}

/** Rejects with NotFound if it was deleted meanwhile. */
export async function readVersion(api: KubeClient, key: Key, signal: AbortSignal): Promise<ArtifactWorkflow> {
  const found = await api.get(artifactWorkflows, key, signal);
  if (found) return found;
  throw new ArcError('NotFound', `version ${key.name} no longer exists`);
}

/** Returns the operator's settings with their descriptions. */
export async function settingsOf(api: KubeClient, signal: AbortSignal): Promise<Settings> {
  try {
    const { data = {} } = (await api.get(configMaps, settingsMap, signal)) ?? {};
    const problems = new Map(parseSettings(data).problems.map(({ key, message }) => [key, message]));
    const known = Object.entries(settingsTable).map(([id, { unset, what }]) => {
      return { id, value: data[id] ?? '', unset, what, problem: problems.get(id) ?? '' };
    });
    const others = Object.keys(data).filter((key) => !isSettingKey(key));
    const unknown = others.map((id) => {
      return { id, value: data[id] ?? '', unset: '', what: '', problem: problems.get(id) ?? 'unknown' };
    });
    return { rows: [...unknown, ...known] };
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden')) throw caught;
    return { rows: [], problem: caught.message };
  }
}

/** Returns the findings of `arcctl doctor` for the cluster and a namespace. */
export async function findingsOf(cluster: Cluster, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, run } of [...clusterChecks, ...namespaceChecks]) {
    try {
      findings.push(...(await run(cluster, signal)));
    } catch (caught) {
      if (signal.aborted) throw caught;
      const [message = ''] = describeFailure(caught).message.split('\n', 1);
      findings.push({ check: name, state: ArcError.is(caught, 'Forbidden') ? 'unknown' : 'bad', message });
    }
    // The first check is whether the cluster is reachable: if not, the others would fail in the same way.
    if (findings.length === 1 && findings[0]?.state === 'bad') break;
  }
  return findings;
}
