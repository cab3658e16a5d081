import path from 'node:path';
import { isTest, resolveImport, type SourceFile } from './source-tree.ts';

/** Files or folders with their imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

/**
 * Detects import cycles between files, and between folders; a nested folder counts as a separate folder. Tests are excluded, but test support
 * and type imports count, because they couple files as well.
 * @returns one text per cycle: its files, or its folders with the imports to remove, and what to do.
 */
export function checkCircles(tree: readonly SourceFile[]): string[] {
  const sources = tree.filter(({ file }) => !isTest(file));
  const known = new Set(sources.map(({ file }) => file));
  const targetsOf = ({ file, imports }: SourceFile) =>
    imports.map((target) => resolveImport(file, target) ?? '').filter((target) => known.has(target));
  const files: Graph = new Map(sources.map((source) => [source.file, targetsOf(source)]));
  return [...fileCircles(files), ...folderCircles(files)];
}

function fileCircles(files: Graph): string[] {
  return circlesIn(files).map(
    (circle) => `${circle.join(' and ')} form an import cycle: move the shared code to a lower file`,
  );
}

/** All imports from one folder to another, as pairs of files. */
interface Edge {
  from: string;
  to: string;
  imports: [file: string, target: string][];
}

function folderCircles(files: Graph): string[] {
  const edges = edgesBetween(files);
  const folders = new Map([...edges.values()].map(({ from }) => [from, [] as string[]]));
  for (const { from, to } of edges.values()) folders.get(from)?.push(to);
  return circlesIn(folders).map((circle) => {
    const within = [...edges.values()].filter(({ from, to }) => circle.includes(from) && circle.includes(to));
    const cuts = closing(within).map(({ from, to, imports }) => {
      const [file, target] = imports[0] ?? [from, to];
      const others = imports.length === 1 ? '' : ` (and ${imports.length - 1} more from ${from} to ${to})`;
      return `\n  ${file} imports ${target}${others}`;
    });
    return `the folders ${circle.join(' and ')} form an import cycle. Move the imported code to a folder below both, move the importing file up, or pass the value as an argument:${cuts.join('')}`;
  });
}

function edgesBetween(files: Graph): Map<string, Edge> {
  const edges = new Map<string, Edge>();
  for (const [file, targets] of files)
    for (const target of targets) {
      const [from, to] = [path.posix.dirname(file), path.posix.dirname(target)];
      if (from === to) continue;
      const edge = edges.get(`${from} ${to}`) ?? { from, to, imports: [] };
      edge.imports.push([file, target]);
      edges.set(`${from} ${to}`, edge);
    }
  return edges;
}

/** Returns the edges to remove to break all cycles: edges with many imports are kept first. */
function closing(edges: readonly Edge[]): Edge[] {
  const kept = new Map<string, string[]>();
  const reaches = (from: string, to: string): boolean =>
    from === to || (kept.get(from) ?? []).some((next) => reaches(next, to));
  return edges
    .toSorted((a, b) => b.imports.length - a.imports.length)
    .filter(({ from, to }) => {
      if (reaches(to, from)) return true;
      kept.set(from, [...(kept.get(from) ?? []), to]);
      return false;
    });
}

/** Returns the strongly connected components with more than one node (Tarjan's algorithm), sorted by name. */
function circlesIn(graph: Graph): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];

  const visit = (node: string): number => {
    const index = order.size;
    order.set(node, index);
    open.push(node);
    let low = index;
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) found.push(open.splice(open.indexOf(node)).sort());
    return low;
  };

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found.filter((nodes) => nodes.length > 1);
}
