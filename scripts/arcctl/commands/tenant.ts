import { Command } from 'commander';
import { namespaces } from '#shared/domain';

import { applyObject } from '../core/apply-object.ts';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { dryRunOption, outputOption } from '../core/options.ts';
import { type Format, formatOf, printValue } from '../core/print.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';
import { isStandalone } from '../model/cluster-checks.ts';
import { tenantObjects } from '../model/tenant.ts';

interface AddOptions {
  dryRun?: boolean;
  output?: string;
}

/** `arcctl tenant add`: applies knative/tenant, which makes a namespace a tenant of ARC. */
export function tenantCommand(io: Io): Command {
  const add = new Command('add')
    .description(
      'Make a namespace a tenant of ARC: permissions for its functions, and an account for its Workflows',
    )
    .argument('<namespace>', 'an existing namespace')
    .addOption(dryRunOption())
    .addOption(outputOption(['json', 'yaml', 'name']))
    .action(async (namespace: string, options: AddOptions, command: Command) => {
      const format = formatOf(options.output);
      const cluster = await connect(io, globalOptions(command));
      if (await isStandalone(cluster, io.signal)) {
        io.note('The standalone works in every namespace: tenants are not needed.');
        return;
      }
      await give(io, cluster, namespace, { format, dryRun: options.dryRun === true });
    });
  return new Command('tenant').description('Manage tenant namespaces of ARC').addCommand(add);
}

async function give(
  io: Io,
  cluster: Cluster,
  namespace: string,
  { format, dryRun }: { format: Format | undefined; dryRun: boolean },
): Promise<void> {
  if (!(await cluster.api.get(namespaces, { name: namespace }, io.signal)))
    throw new Failure(
      exitCodes.no,
      `there is no namespace ${namespace}: create it with "kubectl create namespace ${namespace}"`,
    );
  const applied: unknown[] = [];
  for (const object of await tenantObjects(namespace)) {
    applied.push(await applyObject(io, cluster, object, dryRun));
    const name = `${object.kind.toLowerCase()}/${object.metadata.name}`;
    if (format === undefined) io.line(`${name} applied${dryRun ? ' (dry run)' : ''}`);
    if (format === 'name') io.line(name);
  }
  if (format === 'json' || format === 'yaml')
    await printValue(io, format, { apiVersion: 'v1', kind: 'List', items: applied });
  if (io.isTerminal && format === undefined && !dryRun)
    io.note(`Namespace ${namespace} is a tenant of ARC. Create an Order with: arcctl create -n ${namespace}`);
}
