import { isTest, resolveImport, type SourceFile } from './source-tree.ts';

/**
 * Import circles: the strongly connected components of the graph of imports (Tarjan's algorithm). Imports of types count,
 * because a circle of types ties files together as much. @returns one line per circle: its files in the order of their names.
 */
export function checkCircles(tree: readonly SourceFile[]): string[] {
  const graph = new Map(
    tree
      .filter(({ file }) => !isTest(file))
      .map(({ file, imports }) => [file, imports.flatMap((target) => resolveImport(file, target) ?? [])]),
  );
  return components(graph)
    .filter((files) => files.length > 1)
    .map((files) => `${files.sort().join(' and ')} import each other: move what they share to a file below`);
}

function components(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];

  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    open.push(file);
    let low = index;
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) found.push(open.splice(open.indexOf(file)));
    return low;
  };

  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}
