import { Command } from 'commander';
import type { Pair } from 'yaml';
import { printableLines } from '#shared/base/errors';
import type { Order } from '#shared/domain';
import { dryRunAll, ordersIn } from '../../core/dry-run.ts';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { userWrittenPart } from '../../core/manifests.ts';
import { filenameOption } from '../../core/options.ts';
import { connect, globalOptions } from '../../core/session.ts';

interface DiffOptions {
  filename: string[];
}

/** `arcctl diff`: shows the changes that applying a file would make to its Orders, including defaults of the server. */
export function diffCommand(io: Io): Command {
  return new Command('diff')
    .description(
      'Show the changes that applying a file would make to its Orders; the exit code is 1 if there are any',
    )
    .addOption(filenameOption())
    .action(async (options: DiffOptions, command: Command) => {
      const given = await ordersIn(options.filename);
      const cluster = await connect(io, globalOptions(command));
      const [{ createTwoFilesPatch }, { stringify }] = await Promise.all([import('diff'), import('yaml')]);
      const shown = (order: Order | undefined) =>
        order === undefined ? '' : stringify(userWrittenPart(order), { lineWidth: 0, sortMapEntries: byKey });
      let isDifferent = false;
      for (const { file, live, next } of await dryRunAll(io, cluster, given)) {
        const [before, after] = [shown(live), shown(next)];
        if (before === after) continue;
        isDifferent = true;
        const { namespace, name } = next.metadata;
        const patch = createTwoFilesPatch(
          `cluster ${namespace}/${name}`,
          `file ${file}`,
          before,
          after,
          '',
          '',
          { headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true } },
        );
        for (const line of patch.trimEnd().split('\n')) io.line(coloured(io, printableLines(line)));
      }
      if (isDifferent) throw new Failure(exitCodes.no);
    });
}

/** Sorts keys alphabetically on both sides, with the name of an artifact first, so that their order is no difference. */
function byKey({ key: a }: Pair, { key: b }: Pair): number {
  const [left, right] = [String(a), String(b)];
  if (left === right) return 0;
  return left === 'name' || (right !== 'name' && left < right) ? -1 : 1;
}

function coloured(io: Io, line: string): string {
  if (line.startsWith('+')) return io.style('green', line);
  if (line.startsWith('-')) return io.style('red', line);
  return line.startsWith('@@') ? io.style('cyan', line) : line;
}
