import { Command } from 'commander';
import { isOwnedBy, ownerReference } from '#shared/base/meta';
import {
  artifactWorkflows,
  type CronWorkflow,
  childSelector,
  cronWorkflows,
  labels,
  type Workflow,
  workflows,
} from '#shared/domain';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { collectValues } from '../../core/options.ts';
import { fullName, orderName } from '../../core/resources.ts';
import { connect, globalOptions } from '../../core/session.ts';
import { readOrder } from '../../model/read-tree.ts';
import { treeOf } from '../../model/tree.ts';

interface RunOptions {
  artifact?: string[];
}

/** `arcctl run`: starts a run of a schedule immediately, in addition to the scheduled ones. */
export function runCommand(io: Io): Command {
  return new Command('run')
    .description('Start a run of the schedules of an Order now, in addition to the scheduled ones')
    .argument('<order>', 'the name of an Order')
    .option('--artifact <name>', 'only this artifact; repeatable', collectValues)
    .action(async (word: string, options: RunOptions, command: Command) => {
      const cluster = await connect(io, globalOptions(command));
      const { api, namespace } = cluster;
      const name = orderName(word);
      const order = await readOrder(api, { namespace, name }, io.signal);
      const selection = { namespace, labelSelector: childSelector(order) };
      const [children, schedules] = await Promise.all([
        api.list(artifactWorkflows, selection, io.signal),
        api.list<CronWorkflow>(cronWorkflows, selection, io.signal),
      ]);
      const { artifacts } = treeOf({ order, artifactWorkflows: children.items, runs: schedules.items });
      const wanted = artifacts.filter((each) => options.artifact?.includes(each.name) ?? true);
      const inForce = new Set(
        wanted.flatMap(({ versions }) => versions.filter((each) => each.inForce).map((each) => each.name)),
      );
      const due = schedules.items.filter((schedule) =>
        children.items.some((child) => inForce.has(child.metadata.name) && isOwnedBy(schedule, child)),
      );
      if (due.length === 0)
        throw new Failure(
          exitCodes.no,
          `Order ${name} has no schedule to run${options.artifact ? ` for ${options.artifact.join(', ')}` : ''}: "${cluster.hint(`force ${name}`)}" runs its artifacts again`,
        );
      for (const schedule of due) {
        const active = schedule.status?.active ?? [];
        if (active.length > 0 && schedule.spec.concurrencyPolicy !== 'Allow') {
          io.note(`${schedule.metadata.name}: already running as ${active[0]?.name}`);
          continue;
        }
        const made = await api.create<Workflow>(workflows, runOf(schedule, new Date()), io.signal);
        io.line(`${fullName(workflows, made.metadata.name)} created`);
      }
    });
}

/** Builds a Workflow as Argo does for a CronWorkflow (`argo submit --from cronwf/NAME`), with the labels by which ARC finds it. */
function runOf({ apiVersion, kind, metadata, spec }: CronWorkflow, now: Date): Workflow {
  const { name, namespace, labels: own = {} } = metadata;
  const instance = own[labels.argoInstance];
  return {
    apiVersion,
    kind: 'Workflow',
    metadata: {
      name: `${name}-${Math.floor(now.getTime() / 1000)}`,
      ...(namespace !== undefined && { namespace }),
      labels: {
        ...spec.workflowMetadata?.labels,
        ...(instance !== undefined && { [labels.argoInstance]: instance }),
        [labels.argoCronWorkflow]: name,
      },
      ...(spec.workflowMetadata?.annotations && { annotations: spec.workflowMetadata.annotations }),
      ownerReferences: [ownerReference({ apiVersion, kind, metadata })],
    },
    spec: spec.workflowSpec,
  };
}
