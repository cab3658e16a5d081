import { isOwnedBy } from '#shared/base/meta';
import {
  type Artifact,
  type ArtifactStatus,
  type ArtifactWorkflow,
  artifactIdOf,
  type CronWorkflow,
  keyOf,
  labels,
  type Order,
  phaseOf,
  type Workflow,
  withDefaults,
} from '#shared/domain';
import { type PodNode, podNode, type ShownPod } from '../core/pod.ts';

/**
 * The current state of an Order, from the Order down to its pods, for `arcctl tree`, `watch`, `logs` and the console. Computed from objects in
 * any order; objects that could not be read are omitted.
 */
export interface OrderTree {
  namespace: string;
  name: string;
  uid: string;
  phase: string;
  message: string;
  created: string;
  artifacts: ArtifactNode[];
  /** ArtifactWorkflows of artifacts that the Order no longer lists. */
  left: VersionNode[];
}

/** One entry of `spec.artifacts`. */
export interface ArtifactNode {
  index: number;
  /** The artifact's name, or `#<index>`. */
  name: string;
  type: string;
  source: string;
  destination: string;
  phase: string;
  /** Why it neither runs nor has ended, or why the last attempt failed; empty otherwise. */
  reason: string;
  message: string;
  since: string;
  /** `n/m` bytes. */
  progress: string;
  digest: string;
  bytesCopied: number;
  attempts: number;
  /** The current version first, then earlier ones. */
  versions: VersionNode[];
}

/** One ArtifactWorkflow. */
export interface VersionNode {
  name: string;
  revision: number;
  inForce: boolean;
  phase: string;
  reason: string;
  message: string;
  progress: string;
  runs: RunNode[];
}

/** A Workflow or CronWorkflow of Argo, or a Workflow created by a CronWorkflow. */
export interface RunNode {
  kind: string;
  name: string;
  attempt: number;
  phase: string;
  message: string;
  pods: PodNode[];
}

/** The objects of one namespace from which trees are built. */
export interface TreeInputs {
  order: Order;
  artifactWorkflows: readonly ArtifactWorkflow[];
  runs?: readonly (Workflow | CronWorkflow)[];
  pods?: readonly ShownPod[];
}

/** Builds the tree in linear time. */
export function treeOf({ order, artifactWorkflows, runs = [], pods = [] }: TreeInputs): OrderTree {
  const { namespace = '', name, uid = '', creationTimestamp = '' } = order.metadata;
  const own = artifactWorkflows.filter((each) => isOwnedBy(each, order));
  const nodes = versionNodes(runs, pods);
  const entries = new Map(
    Object.entries(order.status?.artifactWorkflows ?? {}).map(([key, entry]) => [
      entry.artifactIndex,
      { key, entry },
    ]),
  );
  const byKey = new Map(own.map((each) => [keyOf(each), each]));
  const byId = Map.groupBy(own, artifactIdOf);
  // A renamed artifact keeps its target but gets no id.
  const byTarget = Map.groupBy(own, ({ metadata }) => metadata.labels?.[labels.target]);
  const byName = Map.groupBy(own, ({ spec }) => spec.artifact?.name);
  const taken = new Set<ArtifactWorkflow>();
  const inForce = new Set([...entries.values()].map(({ key }) => byKey.get(key)));
  const versionsOf = (artifact: Artifact, key: string | undefined): VersionNode[] => {
    const current = key === undefined ? undefined : byKey.get(key);
    const id = current && artifactIdOf(current);
    const target = current?.metadata.labels?.[labels.target];
    const family =
      id === undefined
        ? undefined
        : [...(byId.get(id) ?? []), ...(target === undefined ? [] : (byTarget.get(target) ?? []))];
    const named = artifact.name === undefined ? [] : (byName.get(artifact.name) ?? []);
    const found = new Set(family ?? (current ? [current] : named));
    const versions = [...found].filter(
      (each) => !taken.has(each) && (each === current || !inForce.has(each)),
    );
    for (const each of versions) taken.add(each);
    return versions
      .toSorted((a, b) => (b.spec.revision ?? 1) - (a.spec.revision ?? 1))
      .map((each) => ({ ...nodes(each), inForce: each === current }))
      .sort((a, b) => Number(b.inForce) - Number(a.inForce));
  };
  const artifacts = (order.spec.artifacts ?? []).map((artifact, index) => {
    const found = entries.get(index);
    return artifactNode(order, artifact, {
      index,
      entry: found?.entry,
      versions: versionsOf(artifact, found?.key),
    });
  });
  return {
    namespace,
    name,
    uid,
    created: creationTimestamp,
    phase: order.status?.phase ?? 'Pending',
    message: order.status?.message ?? '',
    artifacts,
    left: own.filter((each) => !taken.has(each)).map((each) => ({ ...nodes(each), inForce: false })),
  };
}

/** Joins reason and message; empty if there are none. */
export function reasonText({ reason, message }: { reason: string; message: string }): string {
  return [reason, message].filter((text) => text !== '').join(': ');
}

function artifactNode(
  order: Order,
  artifact: Artifact,
  found: { index: number; entry: ArtifactStatus | undefined; versions: VersionNode[] },
): ArtifactNode {
  const { index, entry, versions } = found;
  const { source = '', destination = '' } = withDefaults(order, artifact);
  const current = versions.find(({ inForce }) => inForce);
  return {
    index,
    name: artifact.name ?? `#${index}`,
    type: artifact.type,
    source,
    destination,
    phase: entry?.phase ?? 'Pending',
    reason: entry?.reason ?? '',
    message: entry?.message ?? (entry ? '' : missingEntryText(order)),
    since: entry?.since ?? '',
    // The Order's status lags behind that of its ArtifactWorkflow, at intervals that grow with its size.
    progress: current?.progress || (entry?.progress ?? ''),
    digest: entry?.digest ?? '',
    bytesCopied: entry?.bytesCopied ?? 0,
    attempts: entry?.attempts ?? 1,
    versions,
  };
}

/** Describes an artifact without an entry: not observed yet, or a duplicate of another artifact, which has the entry of both. */
function missingEntryText({ metadata, status }: Order): string {
  const isSeen =
    status?.observedGeneration === metadata.generation && status?.artifactWorkflows !== undefined;
  return isSeen ? 'identical to another artifact of this Order: copied once' : '';
}

function versionNodes(
  runs: readonly (Workflow | CronWorkflow)[],
  pods: readonly ShownPod[],
): (version: ArtifactWorkflow) => Omit<VersionNode, 'inForce'> {
  const runsOf = Map.groupBy(runs, ({ metadata }) => metadata.labels?.[labels.artifactWorkflow]);
  const podsOf = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[labels.argoWorkflow]);
  return (version) => {
    const { metadata, spec, status = {} } = version;
    const phase = phaseOf(version);
    const isWaiting = phase === 'Pending' || phase === 'Queued';
    return {
      name: metadata.name,
      revision: spec.revision ?? 1,
      phase,
      reason: (isWaiting ? (status.waitReason ?? status.configReason) : status.results?.reason) ?? '',
      message: (isWaiting ? (status.waitMessage ?? status.configMessage) : status.message) ?? '',
      progress: status.progress ?? '',
      runs: (runsOf.get(metadata.name) ?? [])
        .map((run) => runNode(run, podsOf.get(run.metadata.name) ?? []))
        .sort((a, b) => b.attempt - a.attempt || (a.name < b.name ? -1 : 1)),
    };
  };
}

function runNode(run: Workflow | CronWorkflow, pods: readonly ShownPod[]): RunNode {
  const { kind, metadata } = run;
  const attempt = Number(metadata.labels?.[labels.attempt] ?? 1);
  const common = { kind, name: metadata.name, attempt };
  if (!isWorkflow(run)) {
    const { active, failed = 0, succeeded = 0 } = run.status ?? {};
    const phase = run.spec.suspend === true ? 'Suspended' : 'Active';
    const message = `${succeeded} succeeded, ${failed} failed${active?.length ? `, ${active.length} running` : ''}`;
    return { ...common, phase, message, pods: [] };
  }
  const { phase, message = '', nodes = {} } = run.status ?? {};
  const fromNodes = Object.values(nodes)
    .filter(({ type }) => type === 'Pod')
    .map((node): PodNode => {
      const { name = node.displayName ?? node.id ?? '', outputs } = node;
      const code = outputs?.exitCode;
      const reason = code !== undefined && code !== '0' ? `ExitCode ${code}` : '';
      return { name, phase: node.phase ?? '', reason, message: node.message ?? '' };
    });
  // The pod says more while it exists.
  return {
    ...common,
    message,
    phase: phase || 'Pending',
    pods: pods.length > 0 ? pods.map(podNode) : fromNodes,
  };
}

function isWorkflow(run: Workflow | CronWorkflow): run is Workflow {
  return run.kind === 'Workflow';
}
