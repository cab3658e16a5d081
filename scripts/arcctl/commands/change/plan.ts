import { Command } from 'commander';
import { mapBounded } from '#shared/base/async';
import { bytesText } from '#shared/base/errors';
import type { Endpoint, Order } from '#shared/domain';
import { dryRunAll, ordersIn } from '../../core/dry-run.ts';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { filenameOption, outputOption } from '../../core/options.ts';
import { type Cell, formatOf, printTable, printValue } from '../../core/print.ts';
import { type Cluster, connect, globalOptions } from '../../core/session.ts';
import type { Outcome } from '../../model/preview.ts';
import { readPreview } from '../../model/read-preview.ts';
import type { Bytes } from '../../model/transfer-bytes.ts';

interface PlanOptions {
  filename: string[];
  bytes: boolean;
  output?: string;
}

/** An Order with the planned outcome of each artifact. */
interface Preview {
  order: string;
  namespace: string;
  isNew: boolean;
  artifacts: (Omit<Outcome, 'workflow'> & { bytes?: Bytes })[];
}

/** `arcctl plan`: prints what would run, be reused or be rejected if a file were applied. Writes nothing. */
export function planCommand(io: Io): Command {
  return new Command('plan')
    .description(
      'Print what would run, be reused or be rejected if a file with Orders were applied, and how many bytes would be copied',
    )
    .addOption(filenameOption())
    .option('--no-bytes', 'do not query registries')
    .addOption(outputOption(['json', 'yaml', 'wide']))
    .action(async (options: PlanOptions, command: Command) => {
      const format = formatOf(options.output);
      const given = await ordersIn(options.filename);
      const cluster = await connect(io, globalOptions(command));
      const previews: Preview[] = [];
      for (const { live, next } of await dryRunAll(io, cluster, given))
        previews.push({ ...(await preview(io, cluster, next, options.bytes)), isNew: live === undefined });
      if (format === 'json' || format === 'yaml') await printValue(io, format, previews);
      else for (const each of previews) print(io, each, format === 'wide');
      const refused = previews
        .flatMap(({ artifacts }) => artifacts)
        .filter(({ action }) => action === 'refuse');
      if (refused.length > 0)
        throw new Failure(
          exitCodes.no,
          `${refused.length} of the artifacts can never run as they are: correct the cause in REASON`,
        );
    });
}

async function preview(
  io: Io,
  cluster: Cluster,
  order: Order,
  withBytes: boolean,
): Promise<Omit<Preview, 'isNew'>> {
  const { namespace = 'default', name } = order.metadata;
  const { outcomes, endpoints } = await readPreview(io, cluster, order);
  const bytes = withBytes ? await bytesOf(io, outcomes, endpoints) : [];
  return {
    order: name,
    namespace,
    artifacts: outcomes.map(({ workflow: _, ...outcome }, index) => {
      const found = bytes[index];
      return found ? { ...outcome, bytes: found } : outcome;
    }),
  };
}

async function bytesOf(
  io: Io,
  outcomes: readonly Outcome[],
  known: readonly Endpoint[],
): Promise<(Bytes | undefined)[]> {
  const endpoints = new Map(known.map((endpoint) => [endpoint.metadata.name, endpoint]));
  const { transferBytes } = await import('../../model/transfer-bytes.ts');
  return mapBounded(outcomes, 4, io.signal, async ({ workflow }, signal) =>
    workflow ? transferBytes(workflow, endpoints, io.env, signal) : undefined,
  );
}

const styles: Partial<Record<Outcome['action'], 'green' | 'red' | 'yellow' | 'cyan'>> = {
  run: 'cyan',
  're-use': 'green',
  wait: 'yellow',
  refuse: 'red',
  remove: 'yellow',
};

function print(io: Io, { order, namespace, isNew, artifacts }: Preview, isWide: boolean): void {
  io.line(`Order ${namespace}/${order}: ${isNew ? 'new' : 'existing'}`);
  const rows = artifacts.map(({ artifact, type, action, reason, message, bytes }): Cell[] => {
    const style = styles[action];
    const why = bytes?.state === 'unknown' ? `${message}; size unknown: ${bytes.why}` : message;
    return [
      artifact,
      type,
      style ? { text: action, style } : action,
      bytesCell(bytes),
      reason,
      isWide ? why : why.slice(0, 200),
    ];
  });
  if (rows.length > 0) printTable(io, ['ARTIFACT', 'TYPE', 'ACTION', 'BYTES', 'REASON', 'WHY'], rows);
  io.line(summaryOf(artifacts));
}

function bytesCell(bytes: Bytes | undefined): string {
  if (bytes === undefined) return '-';
  return bytes.state === 'known' ? bytesText(bytes.toSend) : '?';
}

/** Formats outcomes as `2 would run, 1 re-used`. */
export function summaryOf(artifacts: Preview['artifacts']): string {
  const counts = Map.groupBy(artifacts, ({ action }) => action);
  const parts = [...counts].map(([action, some]) => `${some.length} ${words[action]}`);
  const known = artifacts.flatMap(({ bytes }) => (bytes?.state === 'known' ? [bytes.toSend] : []));
  const sum = known.reduce((total, each) => total + each, 0);
  const unknown = artifacts.filter(({ bytes }) => bytes?.state === 'unknown').length;
  const moved =
    known.length === 0
      ? []
      : [`${bytesText(sum)} would be copied${unknown > 0 ? `, plus ${unknown} of unknown size` : ''}`];
  return [...parts, ...moved].join(', ') || 'nothing to do';
}

const words: Record<Outcome['action'], string> = {
  run: 'would run',
  're-use': 're-used',
  'goes on': 'in progress',
  keep: 'unchanged',
  wait: 'would wait',
  refuse: 'would be rejected',
  cancel: 'cancelled',
  remove: 'would be removed',
};
