import type { ArtifactRow, OrderHead, Runs, RunsOfVersion } from '../../api.ts';

/** A box of the graph. */
export interface GraphNode {
  id: string;
  parent: string | undefined;
  kind: string;
  name: string;
  phase: string;
  note: string;
  /** The artifact that it belongs to, or opens; several: a group. */
  artifact: number | undefined;
  group?: string;
}

/** With more artifacts, they are grouped by phase. */
export const mostArtifacts = 24;

/**
 * Returns Order, artifacts, ArtifactWorkflows, Workflows and pods as a tree. For an Order with many artifacts, only the first artifacts of the
 * phase `opened` have their own box; the others are grouped by phase.
 */
export function graphNodes(
  order: OrderHead,
  artifacts: readonly ArtifactRow[],
  runs: Runs | undefined,
  opened: string,
): GraphNode[] {
  const root: GraphNode = {
    id: 'order',
    parent: undefined,
    kind: 'Order',
    name: order.name,
    phase: order.phase,
    note: `${order.counts.succeeded} of ${order.counts.total} succeeded`,
    artifact: undefined,
  };
  const runsOf = new Map(runs?.artifacts.map((each) => [each.index, each.versions]));
  const draw = (artifact: ArtifactRow, parent: string) =>
    artifactNodes(artifact, parent, runsOf.get(artifact.index) ?? []);
  if (artifacts.length <= mostArtifacts)
    return [root, ...artifacts.flatMap((artifact) => draw(artifact, 'order'))];
  const groups = [...Map.groupBy(artifacts, ({ phase }) => phase)];
  return [
    root,
    ...groups.flatMap(([phase, some]) => {
      const id = `group-${phase}`;
      const isOpen = phase === opened;
      const note =
        isOpen && some.length > mostArtifacts
          ? `the first ${mostArtifacts} are shown`
          : isOpen
            ? 'fold'
            : 'show them';
      const box: GraphNode = {
        id,
        parent: 'order',
        kind: 'Artifacts',
        phase,
        note,
        name: `${some.length} ${phase}`,
        artifact: undefined,
        group: phase,
      };
      return [box, ...(isOpen ? some.slice(0, mostArtifacts).flatMap((artifact) => draw(artifact, id)) : [])];
    }),
  ];
}

function artifactNodes(
  artifact: ArtifactRow,
  parent: string,
  versions: readonly RunsOfVersion[],
): GraphNode[] {
  const { index, name, phase, reason, source, destination } = artifact;
  const id = `artifact-${index}`;
  const shown = artifact.versions.filter(({ inForce }) => inForce);
  const earlier = artifact.versions.length - shown.length;
  return [
    {
      id,
      parent,
      kind: 'Artifact',
      name,
      phase,
      note: reason || `${source} → ${destination}`,
      artifact: index,
    },
    ...shown.flatMap((version) => {
      const versionId = `${id}-${version.name}`;
      const more = earlier > 0 ? `, ${earlier} earlier` : '';
      return [
        {
          id: versionId,
          parent: id,
          kind: 'ArtifactWorkflow',
          name: version.name.slice(-16),
          phase: version.phase,
          note: `revision ${version.revision}${more}`,
          artifact: index,
        },
        ...runNodes(versionId, index, versions.find((each) => each.name === version.name)?.runs ?? []),
      ];
    }),
  ];
}

function runNodes(parent: string, artifact: number, runs: RunsOfVersion['runs']): GraphNode[] {
  return runs.flatMap(({ kind, name, attempt, phase, message, pods }) => {
    const id = `${parent}-${name}`;
    return [
      {
        id,
        parent,
        kind,
        name,
        phase,
        artifact,
        note: runs.length > 1 || attempt > 1 ? `attempt ${attempt}` : (message.split('\n', 1)[0] ?? ''),
      },
      ...pods.map((pod) => ({
        id: `${id}-${pod.name}`,
        parent: id,
        kind: 'Pod',
        name: pod.name,
        phase: pod.phase,
        artifact,
        note: [pod.reason, pod.message.split('\n', 1)[0]].filter(Boolean).join(': '),
      })),
    ];
  });
}

export interface Placed extends GraphNode {
  x: number;
  y: number;
}

/** Size of a box, including its margin. */
export const boxSize = { width: 236, height: 66 };
const [columnWidth, rowHeight] = [288, 82];

/** Lays out a tree in columns by depth: leaves below each other, each parent centred on its children. Linear in the number of boxes. */
export function placed(nodes: readonly GraphNode[]): Placed[] {
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const rows = new Map<string, number>();
  const depths = new Map<string, number>();
  let leaves = 0;
  const place = (node: GraphNode, depth: number): number => {
    depths.set(node.id, depth);
    const below = (children.get(node.id) ?? []).map((child) => place(child, depth + 1));
    const row = below.length === 0 ? leaves++ : ((below[0] ?? 0) + (below.at(-1) ?? 0)) / 2;
    rows.set(node.id, row);
    return row;
  };
  for (const root of children.get(undefined) ?? []) place(root, 0);
  return nodes.map((node) => ({
    ...node,
    x: (depths.get(node.id) ?? 0) * columnWidth,
    y: (rows.get(node.id) ?? 0) * rowHeight,
  }));
}
