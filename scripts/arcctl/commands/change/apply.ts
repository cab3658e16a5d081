import { Command } from 'commander';
import type { KubeObject } from '#shared/base/meta';
import { type Order, orders } from '#shared/domain';
import { applyObject } from '../../core/apply-object.ts';
import { dryRunAll, isOrder, type OrderFile, writeOrder } from '../../core/dry-run.ts';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { readManifests } from '../../core/manifests.ts';
import { dryRunOption, filenameOption } from '../../core/options.ts';
import { fullName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { readPreview } from '../../model/read-preview.ts';
import { watchOrders } from '../show/watch.ts';
import { summaryOf } from './plan.ts';

interface ApplyOptions {
  filename: string[];
  dryRun?: boolean;
  watch?: boolean;
}

/** `arcctl apply`: applies files like `kubectl apply`; validates their Orders before it writes anything, and prints the planned outcome. */
export function applyCommand(io: Io): Command {
  return new Command('apply')
    .description('Apply files: validate their Orders first, print what will run, and follow it with --watch')
    .addOption(filenameOption())
    .addOption(dryRunOption())
    .option('-w, --watch', 'follow the Orders until they have ended')
    .action(async (options: ApplyOptions, command: Command) => {
      const objects: { file: string; object: KubeObject }[] = [];
      for (const file of options.filename)
        for (const object of await readManifests(file)) objects.push({ file, object });
      if (objects.length === 0) throw usage(`${options.filename.join(', ')}: the file has no objects`);
      const cluster = await connect(io, globalOptions(command));
      const applied = await apply(io, cluster, objects, options.dryRun === true);
      if (options.watch && !options.dryRun) await watchAll(io, cluster, applied);
    });
}

async function apply(
  io: Io,
  cluster: Cluster,
  objects: readonly { file: string; object: KubeObject }[],
  dryRun: boolean,
): Promise<Order[]> {
  const given = objects.flatMap(({ file, object }): OrderFile[] =>
    isOrder(object) ? [{ file, order: object }] : [],
  );
  const others = objects.flatMap(({ object }) => (isOrder(object) ? [] : [object]));
  // With their namespace in the same file no dry run is possible: the API server validates them when they are written.
  if (!others.some(({ kind }) => kind === 'Namespace')) await dryRunAll(io, cluster, given);
  const suffix = dryRun ? ' (dry run)' : '';
  for (const object of others) {
    const { apiVersion = '', kind = '', metadata } = await applyObject(io, cluster, object, dryRun);
    const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
    io.line(`${kind.toLowerCase()}${group}/${metadata.name} applied${suffix}`);
  }
  const written: Order[] = [];
  for (const each of given) {
    const { live, next } = await writeOrder(io, cluster, each, dryRun);
    const isSame = live !== undefined && live.metadata.generation === next.metadata.generation;
    const what = live === undefined ? 'created' : isSame ? 'unchanged' : 'configured';
    const { outcomes } = await readPreview(io, cluster, next);
    io.line(`${fullName(orders, next.metadata.name)} ${what}${suffix}: ${summaryOf(outcomes)}`);
    for (const { artifact, action, reason, message } of outcomes)
      if (action === 'refuse' || action === 'wait')
        io.note(`  ${artifact}: ${[reason, message].filter(Boolean).join(': ')}`);
    written.push(next);
  }
  return written;
}

/** Watches the Orders of one namespace after another, as `arcctl watch` does. */
async function watchAll(io: Io, cluster: Cluster, applied: readonly Order[]): Promise<void> {
  const failures: string[] = [];
  for (const [namespace = cluster.namespace, some] of Map.groupBy(
    applied,
    ({ metadata }) => metadata.namespace,
  ))
    await watchOrders(io, { ...cluster, namespace }, some).catch((caught: unknown) => {
      if (!(caught instanceof Failure)) throw caught;
      failures.push(caught.message);
    });
  if (failures.length > 0) throw new Failure(exitCodes.no, failures.join('\n'));
}
