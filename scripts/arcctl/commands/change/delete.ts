import { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { artifactWorkflows, childSelector, endpoints, endpointsUsed, orders } from '#shared/domain';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import { createFollower } from '../../core/follower.ts';
import type { Io } from '../../core/io.ts';
import { fullName, type ObjectSelection, parseOrdersOrSelection } from '../../core/resources.ts';
import { type Cluster, connect, durationOf, globalOptions } from '../../core/session.ts';
import { hasEnd } from '../../model/standing.ts';

interface DeleteOptions {
  yes?: boolean;
  wait: boolean;
  timeout: string;
}

/** `arcctl delete`: prints the effect on dependents, asks for confirmation, and waits until the object is gone. */
export function deleteCommand(io: Io): Command {
  return new Command('delete')
    .description(
      'Delete Orders or other objects: print the effect, ask for confirmation, and wait until they are gone',
    )
    .argument('<names...>', 'names of Orders, KIND NAME..., or KIND/NAME...')
    .option('--yes', 'do not ask for confirmation')
    .option('--no-wait', 'do not wait until they are gone')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .action(async (words: string[], options: DeleteOptions, command: Command) => {
      const timeoutMs = durationOf(options.timeout, '--timeout');
      const asked = parseOrdersOrSelection(words);
      if (asked.names.length === 0) throw usage(`no ${asked.kind.plural} given: name them`);
      const cluster = await connect(io, globalOptions(command));
      await remove(io, cluster, asked, { ...options, timeoutMs });
    });
}

async function remove(
  io: Io,
  cluster: Cluster,
  { kind, names }: ObjectSelection,
  { yes, wait, timeoutMs }: DeleteOptions & { timeoutMs: number },
): Promise<void> {
  const { api } = cluster;
  const place = kind.namespaced ? { namespace: cluster.namespace } : {};
  for (const name of names) {
    const found = await api.getMetadata(kind, { ...place, name }, io.signal);
    if (!found) {
      const message = `there is no ${kind.kind} ${name}${kind.namespaced ? ` in namespace ${cluster.namespace}` : ''}`;
      throw new ArcError('NotFound', message, { details: { kind: kind.kind, name } });
    }
    const effect = await effectOf(io, cluster, { kind, names: [name] });
    if (effect !== '') io.note(`${kind.kind} ${name}: ${effect}`);
  }
  if (io.isInteractive && !yes) {
    const answer = await io.ask(
      `arcctl delete: ${names.map((name) => fullName(kind, name)).join(', ')}? [y/N] `,
    );
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failure(exitCodes.no, 'cancelled: nothing was deleted');
  }
  for (const name of names) await api.delete(kind, { ...place, name }, {}, io.signal);
  if (wait) await waitUntilDeleted(io, cluster, { kind, names }, timeoutMs);
  for (const name of names) io.line(`${fullName(kind, name)} deleted`);
}

/** Describes the effect of a deletion on dependents; empty if there is none. */
async function effectOf(
  io: Io,
  { api, namespace }: Cluster,
  { kind, names }: ObjectSelection,
): Promise<string> {
  const [name = ''] = names;
  if (kind === orders) {
    const order = await api.get(orders, { namespace, name }, io.signal);
    if (!order) return '';
    const children = { namespace, labelSelector: childSelector(order), metadataOnly: true };
    const { items } = await api.list(artifactWorkflows, children, io.signal);
    const running = order.status?.counts?.running ?? 0;
    const stopped =
      running > 0 ? `${running} running ${running === 1 ? 'transfer is' : 'transfers are'} stopped, ` : '';
    const own =
      items.length === 1 ? '1 ArtifactWorkflow is deleted' : `${items.length} ArtifactWorkflows are deleted`;
    return `${stopped}${own} with it; copied content stays at its destination`;
  }
  if (kind !== endpoints) return '';
  const { items } = await api.list(orders, { namespace }, io.signal);
  const users = items.filter((order) => endpointsUsed(order).includes(name));
  const open = users.filter((order) => !hasEnd(order)).map(({ metadata }) => metadata.name);
  if (users.length === 0) return '';
  const waiting = open.length > 0 ? `, of which ${open.slice(0, 5).join(', ')} will wait for it` : '';
  return `used by ${users.length} Orders${waiting}`;
}

async function waitUntilDeleted(
  io: Io,
  cluster: Cluster,
  { kind, names }: ObjectSelection,
  timeoutMs: number,
): Promise<void> {
  await using follower = createFollower(cluster.api, io.signal, io.note);
  const [name = ''] = names;
  const seen = follower.follow(kind, {
    ...(kind.namespaced && { namespace: cluster.namespace }),
    ...(names.length === 1 && { fieldSelector: `metadata.name=${name}` }),
    metadataOnly: true,
  });
  const deadline = performance.now() + timeoutMs;
  while (await follower.changed(0, Math.max(1, deadline - performance.now()))) {
    const left = seen.values().filter(({ metadata }) => names.includes(metadata.name));
    if (seen.synced && left.length === 0) return;
    if (performance.now() < deadline) continue;
    const still = left.map(({ metadata }) => fullName(kind, metadata.name)).join(', ');
    throw new Failure(
      exitCodes.timeout,
      `${still}: not gone after ${timeoutMs / 1000} s; see why with "${cluster.hint('tree')}"`,
    );
  }
}
