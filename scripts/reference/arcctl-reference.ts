import type { Command, Help } from 'commander';

/** Path of the page with the table of commands, relative to the root. */
export const arcctlPage = 'docs/arcctl.md';

const begin = '<!-- The table of commands, by `npx node scripts/api-reference.ts`: begin -->';
const end = '<!-- end -->';

/** Returns a row for each command: usage, description and options, as in --help. */
export function commandTable(program: Command): string {
  const help = program.createHelp();
  const rows = leaves(program, help).map(
    (command) =>
      `| \`${callOf(command, program)}\` | ${cell(command.description())} | ${optionsOf(command, help)} |`,
  );
  return ['| command | what it does | options |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Inserts the table into the page; undefined if the page has no markers for it. */
export function withCommandTable(page: string, table: string): string | undefined {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) return undefined;
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

function leaves(command: Command, help: Help): Command[] {
  const below = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  return below.flatMap((each) => (each.commands.length > 0 ? leaves(each, help) : [each]));
}

function callOf(command: Command, program: Command): string {
  const words: string[] = [];
  for (let at: Command | null = command; at && at !== program; at = at.parent) words.unshift(at.name());
  const args = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? name.toUpperCase() : `[${name.toUpperCase()}]`;
  });
  return cell([...words, ...args].join(' '));
}

function optionsOf(command: Command, help: Help): string {
  return help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => `\`${cell(option.flags)}\` ${cell(option.description)}`)
    .join('; ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
