import type { Argument, Command, Option } from 'commander';

/** Source of the values of an argument or option. */
export type Source =
  | 'orders'
  | 'kinds'
  | 'names'
  | 'namespaces'
  | 'contexts'
  | 'artifacts'
  | 'types'
  | 'reasons'
  | 'goals'
  | 'commands'
  | 'shells'
  | 'files'
  | 'nothing';

/** The candidates to offer at the end of a command line. */
export interface Completions {
  /** Prefix of the candidates; with `--output=` syntax, `lead` precedes the value. */
  begin: string;
  lead: string;
  /** Static candidates, with descriptions. */
  words: readonly (readonly [word: string, meaning: string])[];
  sources: readonly Source[];
  /** Arguments of the command before the last word, and its options: they select the names to offer. */
  args: readonly string[];
}

const sourceOfOption: Record<string, Source> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--kubeconfig': 'files',
  '--filename': 'files',
  '--artifact': 'artifacts',
  '--type': 'types',
  '--for': 'goals',
};

const sourcesOfArgument: Record<string, readonly Source[]> = {
  order: ['orders'],
  orders: ['orders'],
  kind: ['kinds'],
  name: ['reasons'],
  shell: ['shells'],
  namespace: ['namespaces'],
  command: ['commands'],
};

/** Parses the words of a command line, the last of which is incomplete, and returns the possible completions. */
export function completionsAt(program: Command, line: readonly string[]): Completions {
  const last = line.at(-1) ?? '';
  const { command, args, open } = parseLine(program, line.slice(0, -1));
  const common = { begin: last, lead: '', words: [], sources: [], args };
  if (open) return { ...common, ...valuesOf(open) };
  const [, name = '', begin = ''] = /^(--[a-z-]+)=(.*)$/s.exec(last) ?? [];
  const option = optionNamed(command, program, name);
  if (option) return { ...common, ...valuesOf(option), begin, lead: `${name}=` };
  if (last.startsWith('-')) return { ...common, words: optionWords(command, program) };
  const below = command.createHelp().visibleCommands(command);
  if (below.length > 0)
    return { ...common, words: below.map((each) => [each.name(), each.description()] as const) };
  return { ...common, sources: sourcesAt(command, args, last) };
}

interface ParsedLine {
  command: Command;
  args: string[];
  /** The option whose value comes next. */
  open: Option | undefined;
}

function parseLine(program: Command, words: readonly string[]): ParsedLine {
  let command = program;
  let open: Option | undefined;
  const args: string[] = [];
  for (const word of words) {
    if (open) {
      open = undefined;
    } else if (word.startsWith('-')) {
      const option = optionNamed(command, program, word);
      if (option?.required) open = option;
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next && args.length === 0) command = next;
      else args.push(word);
    }
  }
  return { command, args, open };
}

function optionNamed(command: Command, program: Command, name: string): Option | undefined {
  return [...command.options, ...program.options].find(({ long, short }) => long === name || short === name);
}

function optionWords(command: Command, program: Command): Completions['words'] {
  const help = command.createHelp();
  const all = new Set([...help.visibleOptions(command), ...help.visibleOptions(program)]);
  return [...all].map(({ long, short, description }) => [long ?? short ?? '', description] as const);
}

function valuesOf(option: Option): Pick<Completions, 'words' | 'sources'> {
  const { argChoices, long = '' } = option;
  if (argChoices) return { words: argChoices.map((choice) => [choice, ''] as const), sources: [] };
  return { words: [], sources: [sourceOfOption[long ?? ''] ?? 'nothing'] };
}

function sourcesAt(command: Command, args: readonly string[], last: string): readonly Source[] {
  const takesKind = command.registeredArguments[0]?.name() === 'kind';
  if (takesKind && args.length > 0) return args[0]?.includes('/') ? ['kinds'] : ['names'];
  if (last.includes('/')) return ['names'];
  const argument = argumentAt(command, args.length);
  const name = argument?.name() ?? '';
  if (name === 'names') return command.name() === 'wait' ? ['orders', 'kinds'] : ['orders'];
  return sourcesOfArgument[name] ?? ['nothing'];
}

function argumentAt({ registeredArguments: known }: Command, position: number): Argument | undefined {
  const last = known.at(-1);
  return known[position] ?? (last?.variadic ? last : undefined);
}
