import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { type Endpoint, endpoints, type Order, orders } from '#shared/domain';
import { collectionPath, query } from '#shared/kubernetes/client';
import { exitCodes, Failure, usage } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { dryRunOption, outputOption } from '../../core/options.ts';
import { formatOf, printValue } from '../../core/print.ts';
import { fullName } from '../../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import { type Drafted, draftOrder } from '../../model/draft.ts';

interface CreateOptions {
  name?: string;
  type: string;
  dryRun?: boolean;
  output?: string;
}

/** `arcctl create`: creates an Order from a source and a destination; prompts for missing arguments on a terminal. */
export function createCommand(io: Io): Command {
  return new Command('create')
    .description(
      'Create an Order from two references, such as registry.example.com/team/app:1.0 and mirror.example.com/team',
    )
    .argument('[source]', 'the source: host/path:tag; default: prompt')
    .argument(
      '[destination]',
      'the destination: host/path[:tag]; with a trailing / the name of the source is appended',
    )
    .option('--name <name>', 'name of the Order; default: derived from the source')
    .option('--type <type>', 'type of the artifact', 'oci')
    .addOption(dryRunOption())
    .addOption(outputOption(['json', 'yaml', 'name']))
    .action(
      async (
        source: string | undefined,
        destination: string | undefined,
        options: CreateOptions,
        command: Command,
      ) => {
        const format = formatOf(options.output);
        if (!io.isInteractive && (source === undefined || destination === undefined))
          throw usage(
            'give the source and the destination: arcctl create registry.example.com/team/app:1.0 mirror.example.com/team/app',
          );
        const cluster = await connect(io, globalOptions(command));
        const { items } = await cluster.api.list(endpoints, { namespace: cluster.namespace }, io.signal);
        const answers = await ask(io, items, source, destination);
        const drafted = draftOrder({ ...answers, ...options }, items);
        if (drafted.state === 'refused')
          throw new Failure(exitCodes.no, withHint(drafted, cluster.namespace));
        const created = await send(
          io,
          cluster,
          { ...drafted.order, metadata: { ...drafted.order.metadata, namespace: cluster.namespace } },
          options.dryRun === true,
        );
        const name = fullName(orders, drafted.order.metadata.name);
        if (format === 'json' || format === 'yaml') return printValue(io, format, created);
        io.line(format === 'name' ? name : `${name} created${options.dryRun ? ' (dry run)' : ''}`);
        if (format === undefined && !options.dryRun)
          io.note(`Follow it with: ${cluster.hint(`watch ${drafted.order.metadata.name}`)}`);
      },
    );
}

async function ask(
  io: Io,
  known: readonly Endpoint[],
  source: string | undefined,
  destination: string | undefined,
): Promise<{ source: string; destination: string }> {
  if (source !== undefined && destination !== undefined) return { source, destination };
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (const { metadata, spec } of known)
      io.note(`Endpoint ${metadata.name}: ${spec.remoteURL} (${spec.usage ?? 'All'})`);
    const question = (text: string) => lines.question(text, { signal: io.signal });
    return {
      source: source ?? (await question('Source? ')),
      destination: destination ?? (await question('Destination? ')),
    };
  } finally {
    lines.close();
  }
}

async function send(io: Io, { transport }: Cluster, order: Order, dryRun: boolean): Promise<unknown> {
  const options = query({
    fieldManager: 'arcctl',
    fieldValidation: 'Strict',
    dryRun: dryRun ? 'All' : undefined,
  });
  const path = `${collectionPath(orders, order.metadata.namespace)}${options}`;
  return transport.send({ method: 'POST', path, body: order }, io.signal);
}

function withHint({ message, endpoint }: Drafted & { state: 'refused' }, namespace: string): string {
  if (endpoint === undefined) return message;
  return `${message}\nCreate it, with spec.secretRef if it requires credentials:\n${endpoint.replaceAll('NAMESPACE', namespace)}`;
}
