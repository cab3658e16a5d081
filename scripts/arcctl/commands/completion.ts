import { Argument, Command } from 'commander';
import { artifactTypes, clusterArtifactTypes, namespaces, orders } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { type Completions, completionsAt, type Source } from '../completion/completing.ts';
import { completionScripts } from '../completion/completion-scripts.ts';
import { contextNames } from '../completion/kubeconfig-contexts.ts';
import type { Io } from '../core/io.ts';
import { kindNames, kindOf } from '../core/resources.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';
import { shippedText } from '../core/shipped.ts';
import { parseStatusTable } from '../model/status-table.ts';

const shells = Object.keys(completionScripts) as (keyof typeof completionScripts)[];

/** `arcctl completion`: prints the script for a shell, which runs `arcctl complete -- WORDS` on TAB. */
export function completionCommand(io: Io): Command {
  return new Command('completion')
    .description('Print a shell completion script: source <(arcctl completion bash)')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(shells))
    .action((shell: keyof typeof completionScripts) => io.write(completionScripts[shell]));
}

/** As in kubectl's completion: the user waits for the response. */
const usualTimeoutMs = 5_000;
const mostNames = 500;

type Word = readonly [word: string, meaning: string];

/** Prints the candidates for `arcctl complete -- WORDS`, in the format of `completionScripts` and kubectl. */
export async function complete(
  io: Io,
  program: Command,
  line: readonly string[],
  timeoutMs = usualTimeoutMs,
): Promise<void> {
  const wanted = completionsAt(program, line);
  const found = await Promise.all(
    wanted.sources.map((source) => wordsOf(source, wanted, { io, program, line, timeoutMs })),
  );
  const words = [...wanted.words, ...found.flat()].filter(([word]) => word.startsWith(wanted.begin));
  for (const [word, meaning] of words)
    io.line(meaning === '' ? `${wanted.lead}${word}` : `${wanted.lead}${word}\t${firstSentence(meaning)}`);
  const isOpen = words.length > 0 && words.every(([word]) => /[/=]$/.test(word));
  io.line(`:${wanted.sources.includes('files') ? 0 : isOpen ? 6 : 4}`);
}

/** Returns the first sentence without tabs and line breaks, which separate candidates. */
function firstSentence(text: string): string {
  return (text.split(/[;:\n]/, 1)[0] ?? '').replace(/\s+/g, ' ');
}

interface Asking {
  io: Io;
  program: Command;
  line: readonly string[];
  timeoutMs: number;
}

async function wordsOf(source: Source, wanted: Completions, asking: Asking): Promise<readonly Word[]> {
  const plain = (words: readonly string[]): Word[] => words.map((word) => [word, '']);
  const { program, io } = asking;
  switch (source) {
    case 'kinds':
      return plain(kindNames);
    case 'reasons':
      return parseStatusTable(shippedText('docs/status.md')).map(({ name, meaning }) => [name, meaning]);
    case 'goals':
      return plain(['phase=Succeeded', 'phase=Failed', 'phase=Cancelled', 'condition=Ready', 'delete']);
    case 'shells':
      return plain(shells);
    case 'commands':
      return program.commands.map((command) => [command.name(), command.description()]);
    case 'contexts':
      return plain(await contextNames(io.env, globalsOf(asking).kubeconfig));
    case 'files':
    case 'nothing':
      return [];
    default:
      return plain(await namesOf(source, wanted, asking));
  }
}

function globalsOf({ program, line }: Asking) {
  program.parseOptions([...line]);
  return globalOptions(program);
}

type Asked = Extract<Source, 'orders' | 'names' | 'namespaces' | 'artifacts' | 'types'>;

async function namesOf(source: Asked, { begin, args }: Completions, asking: Asking): Promise<string[]> {
  const { io, timeoutMs } = asking;
  try {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(timeoutMs)]);
    const cluster = await connect(io, globalsOf(asking));
    const list = (kind: Kind) => listNames(cluster, kind, signal);
    switch (source) {
      case 'orders':
        return await list(orders);
      case 'namespaces':
        return await list(namespaces);
      case 'types':
        return (await Promise.all([list(artifactTypes), list(clusterArtifactTypes)])).flat();
      case 'artifacts': {
        const order = await cluster.api.get(
          orders,
          { namespace: cluster.namespace, name: args[0] ?? '' },
          signal,
        );
        return (order?.spec.artifacts ?? []).map(({ name }, index) => name ?? `#${index}`);
      }
      case 'names': {
        const [kind = ''] = (begin.includes('/') ? begin : (args[0] ?? '')).split('/');
        const names = await list(kindOf(kind));
        return begin.includes('/') ? names.map((name) => `${kind}/${name}`) : names;
      }
    }
  } catch {
    // No cluster, no permission, a timeout or an incomplete command line: no candidates.
    return [];
  }
}

async function listNames({ api, namespace }: Cluster, kind: Kind, signal: AbortSignal): Promise<string[]> {
  const place = kind.namespaced ? { namespace } : {};
  const { items } = await api.list(kind, { ...place, metadataOnly: true, limit: mostNames }, signal);
  return items.map(({ metadata }) => metadata.name);
}
