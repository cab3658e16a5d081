import { Command } from 'commander';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Io } from '../../core/io.ts';
import { outputOption } from '../../core/options.ts';
import { formatOf, printTable, printValue } from '../../core/print.ts';
import { shippedText } from '../../core/shipped.ts';
import { explanationsOf, parseStatusTable, similarNames } from '../../model/status-table.ts';

interface ExplainOptions {
  output?: string;
}

/** `arcctl explain`: explains a phase, reason or condition with the table of docs/status.md. Does not contact the cluster. */
export function explainCommand(io: Io): Command {
  return new Command('explain')
    .description('Explain a phase, reason or condition of a status, with a remedy')
    .argument('[name]', 'such as Failed or EndpointMissing; default: all')
    .addOption(outputOption(['json', 'yaml']))
    .action(async (name: string | undefined, options: ExplainOptions) => {
      const format = formatOf(options.output);
      const all = parseStatusTable(shippedText('docs/status.md'));
      const found = name === undefined ? all : explanationsOf(all, name);
      if (found.length === 0) {
        const similar = similarNames(all, name ?? '');
        const hint =
          similar.length > 0 ? `Did you mean ${similar.join(' or ')}?` : 'List all with "arcctl explain".';
        throw new Failure(
          exitCodes.no,
          `unknown phase, reason or condition ${JSON.stringify(name)}. ${hint}`,
        );
      }
      if (format === 'json' || format === 'yaml') return printValue(io, format, found);
      if (name === undefined) {
        printTable(
          io,
          ['NAME', 'OF', 'MEANING'],
          found.map(({ name, what, meaning }) => [name, what, plain(meaning)]),
        );
        return;
      }
      for (const { name, what, meaning, help } of found) {
        io.line(`${io.style('bold', name)} (${what}): ${plain(meaning)}`);
        io.line(`  What to do: ${plain(help)}`);
      }
    });
}

/** Removes Markdown markup. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}
