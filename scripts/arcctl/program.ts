import path from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { version } from '../version/version.ts';
import { backupCommand, restoreCommand } from './commands/backup.ts';
import { actionCommands } from './commands/change/actions.ts';
import { applyCommand } from './commands/change/apply.ts';
import { createCommand } from './commands/change/create.ts';
import { deleteCommand } from './commands/change/delete.ts';
import { diffCommand } from './commands/change/diff.ts';
import { historyCommand, rollbackCommand } from './commands/change/history.ts';
import { planCommand } from './commands/change/plan.ts';
import { runCommand } from './commands/change/run.ts';
import { complete, completionCommand } from './commands/completion.ts';
import { dashboardCommand } from './commands/dashboard.ts';
import { doctorCommand } from './commands/doctor.ts';
import { migrateCommand } from './commands/migrate.ts';
import { describeCommand } from './commands/show/describe.ts';
import { eventsCommand } from './commands/show/events.ts';
import { explainCommand } from './commands/show/explain.ts';
import { getCommand } from './commands/show/get.ts';
import { logsCommand } from './commands/show/logs.ts';
import { treeCommand } from './commands/show/tree.ts';
import { watchCommand } from './commands/show/watch.ts';
import { tenantCommand } from './commands/tenant.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';
import { describeFailure, exitCodes } from './core/failure.ts';
import { type Io, processIo } from './core/io.ts';
import { collectValues } from './core/options.ts';

/** Returns the whole command line: the source of --help, of the completion, and of docs/arcctl.md. */
export function createProgram(io: Io, name = 'arcctl'): Command {
  const program = new Command(name)
    .description('Shows and manages Orders of ARC, the Artifact Conduit.')
    .version(version, '-V, --version', 'print the version of arcctl')
    .option('-n, --namespace <name>', 'namespace; default: the namespace of the context')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig; default: KUBECONFIG, then ~/.kube/config')
    .option('--as <user>', 'impersonate this user')
    .addOption(
      new Option('--as-group <group>', 'impersonate this group, with --as; repeatable').argParser(
        collectValues,
      ),
    )
    .option('--as-uid <uid>', 'impersonate this uid, with --as')
    .option('--request-timeout <duration>', 'timeout of a request, such as 10s; 0: none (default: 30s)')
    .helpCommand('help [command]', 'show the help of a command')
    .showHelpAfterError(helpHint(name))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.write(text),
      writeErr: (text) => io.note(text.replace(/\n$/, '')),
    })
    .exitOverride();
  const commands = [
    ...[
      getCommand(io),
      describeCommand(io),
      treeCommand(io),
      watchCommand(io),
      logsCommand(io),
      eventsCommand(io),
      waitCommand(io),
      dashboardCommand(io),
    ],
    ...[planCommand(io), diffCommand(io), applyCommand(io), createCommand(io), deleteCommand(io)],
    ...[...actionCommands(io), runCommand(io), historyCommand(io), rollbackCommand(io)],
    ...[explainCommand(io), doctorCommand(io), tenantCommand(io), backupCommand(io), restoreCommand(io)],
    ...[migrateCommand(io)],
    ...[completionCommand(io), versionCommand(io)],
  ];
  for (const command of commands) inherit(program, command, name);
  return program;
}

/** Makes a command and its subcommands inherit output and exit behaviour from the parent. */
function inherit(parent: Command, command: Command, parentName: string): void {
  const name = `${parentName} ${command.name()}`;
  command.copyInheritedSettings(parent).showHelpAfterError(helpHint(name));
  for (const below of command.commands) inherit(command, below, name);
  if (!parent.commands.includes(command)) parent.addCommand(command);
}

function helpHint(name: string): string {
  return `Run "${name} --help" for usage.`;
}

/** Runs a command line and exits with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const io = processIo();
  const exitCode = await run(io, argv);
  // Writes to a pipe may still be pending.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))),
  );
  process.exit(exitCode);
}

async function run(io: Io, argv: readonly string[]): Promise<number> {
  try {
    const program = createProgram(io, programName(argv[1]));
    const [, , verb, ...words] = argv;
    if (verb === 'complete') await complete(io, program, words.slice(words.indexOf('--') + 1));
    else await program.parseAsync([...argv]);
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.ok;
  } catch (caught) {
    if (io.signal.aborted) return exitCodes.interrupted;
    // Commander has printed its message, or the requested help.
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { exitCode, message } = describeFailure(caught);
    if (message !== '') io.note(`Error: ${message}`);
    return exitCode;
  }
}

/** kubectl runs a plugin as `kubectl-arc`; users call it `kubectl arc`. */
function programName(script = ''): string {
  return path.basename(script).startsWith('kubectl-') ? 'kubectl arc' : 'arcctl';
}
