import { Command } from 'commander';
import { orders } from '#shared/domain';
import { usage } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { connect, globalOptions } from '../core/session.ts';

const shells = ['bash', 'zsh', 'fish'];

/** `arcctl completion`: the script that a shell loads. It runs `arcctl complete -- WORDS` with each TAB. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print what makes a shell complete arcctl: source <(arcctl completion bash)')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => {
      if (!shells.includes(shell)) throw usage(`${JSON.stringify(shell)}: give one of ${shells.join(', ')}`);
      const { script } = await import('@bomb.sh/tab');
      script(shell, 'arcctl', 'arcctl');
    });
}

/** A person waits for the answer, and has something to type meanwhile. */
const timeoutMs = 2_000;
const mostNames = 200;

/** Answers `arcctl complete -- WORDS`: commands, options, and names of Orders where the cluster tells them in time. */
export async function complete(io: Io, program: Command, words: readonly string[]): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab/commander');
  const root = tab(program);
  const [verb = ''] = words;
  const command = program.commands.find((each) => each.name() === verb);
  const argument = command?.registeredArguments.find((each) => takesOrders.includes(each.name()));
  if (argument && !words.at(-1)?.startsWith('-')) {
    const names = await orderNames(io, program, words.slice(1));
    const offer = (each: (name: string, description: string) => void) => {
      for (const name of names) each(name, '');
    };
    root.commands.get(verb)?.argument(argument.name(), offer, argument.variadic);
  }
  root.parse([...words]);
}

/** Arguments of commands that are names of Orders. */
const takesOrders = ['order', 'orders', 'names'];

async function orderNames(io: Io, program: Command, words: readonly string[]): Promise<string[]> {
  try {
    program.parseOptions([...words]);
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(timeoutMs)]);
    const { api, namespace } = await connect(io, globalOptions(program));
    const { items } = await api.list(orders, { namespace, metadataOnly: true, limit: mostNames }, signal);
    return items.map(({ metadata }) => metadata.name);
  } catch {
    // No cluster, no right, no time, or a line that is not finished: then there is nothing to offer.
    return [];
  }
}
