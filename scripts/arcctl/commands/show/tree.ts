import { Command } from 'commander';
import { mapBounded } from '#shared/base/async';
import { type Order, orders } from '#shared/domain';
import type { Io } from '../../core/io.ts';
import { allNamespacesOption, outputOption, selectorOption } from '../../core/options.ts';
import { printPaged } from '../../core/pager.ts';
import { type Format, formatOf, printTable, printValue } from '../../core/print.ts';
import { fullName, orderName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { readOrder, readTree, type Unread } from '../../model/read-tree.ts';
import type { OrderTree } from '../../model/tree.ts';
import { treeRows } from '../../model/tree-rows.ts';

interface TreeOptions {
  output?: string;
  selector?: string;
  allNamespaces?: boolean;
}

/** `arcctl tree`: shows Orders with their artifacts, versions, Workflows and pods, and the reason of each state. */
export function treeCommand(io: Io): Command {
  return new Command('tree')
    .description('Show Orders with their artifacts, versions, Workflows and pods')
    .argument('[orders...]', 'names of Orders; default: all of the namespace')
    .addOption(outputOption())
    .addOption(selectorOption())
    .addOption(allNamespacesOption())
    .action(async (names: string[], options: TreeOptions, command: Command) => {
      const format = formatOf(options.output);
      const cluster = await connect(io, globalOptions(command));
      const found = await ordersAsked(io, cluster, names, options);
      const unread: Unread = new Map();
      const trees = await mapBounded(found, 4, io.signal, (order, signal) =>
        readTree(cluster.api, order, unread, signal),
      );
      if (format === 'json' || format === 'yaml')
        await printValue(io, format, names.length === 1 ? trees[0] : trees);
      else await printPaged(io, (paging) => printTrees(paging, trees, format));
      for (const [plural, why] of unread) io.note(`Without ${plural}: ${why}`);
    });
}

async function ordersAsked(
  io: Io,
  { api, namespace }: Cluster,
  names: readonly string[],
  { selector, allNamespaces }: TreeOptions,
): Promise<Order[]> {
  if (names.length > 0)
    return mapBounded(names, 4, io.signal, (name, signal) =>
      readOrder(api, { namespace, name: orderName(name) }, signal),
    );
  const selection = {
    ...(allNamespaces ? {} : { namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
  };
  const { items } = await api.list(orders, selection, io.signal);
  if (items.length === 0) io.note(`No orders found${allNamespaces ? '' : ` in namespace ${namespace}`}.`);
  return items;
}

function printTrees(io: Io, trees: readonly OrderTree[], format: Format | undefined): void {
  if (format === 'name') {
    for (const { name } of trees) io.line(fullName(orders, name));
    return;
  }
  const rows = trees.flatMap((tree) => treeRows(tree, format === 'wide'));
  if (rows.length > 0) printTable(io, ['NAME', 'PHASE', 'REASON', 'MESSAGE'], rows);
}
