import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { type Readable, Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { type Backup, readBackup } from '#shared/kubernetes/storage';
import { exitCodes, Failure, usage } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { type Cluster, connect, type GlobalOptions, globalOptions } from '../core/session.ts';
import { isStandalone } from '../model/cluster-checks.ts';
import { type KnownOwner, keepRuns } from '../restore/keep-runs.ts';
import { execInPod } from '../restore/kubectl.ts';
import { startRestorePod, startServer, stopServer } from '../restore/stopped-server.ts';

const program = ['node', '/app/api-server.mjs'];

/** `arcctl backup`: saves a consistent snapshot of all ARC objects to a local file. */
export function backupCommand(io: Io): Command {
  return new Command('backup')
    .description('Back up all Orders, ArtifactWorkflows, Endpoints and types of ARC, with their status')
    .argument('<file>', 'the file to write, such as arc.backup.gz')
    .action(async (file: string, _: unknown, command: Command) => {
      const options = globalOptions(command);
      await clusterOf(io, options, `npm start -- --backup ${file}`);
      const partial = `${file}.partial`;
      try {
        const output = createWriteStream(partial, { mode: 0o600, flush: true });
        const from = { target: 'deployment/api-server', container: 'server' };
        await execInPod(io, options, from, [...program, 'backup', '-'], { output });
        const { items, time } = await backupIn(partial);
        await rename(partial, file);
        io.line(`${items.length} objects backed up, consistent as of ${time}: ${file}`);
      } finally {
        await rm(partial, { force: true });
      }
    });
}

interface RestoreOptions {
  stored?: boolean;
  yes?: boolean;
}

/** `arcctl restore`: replaces all ARC objects; the API is unavailable meanwhile, running Workflows continue. */
export function restoreCommand(io: Io): Command {
  return new Command('restore')
    .description(
      'Replace all objects of ARC by those of a backup; the API is unavailable meanwhile, running Workflows continue',
    )
    .argument('<backup>', 'a file written by "arcctl backup"')
    .option('--stored', 'the argument is the name of a backup made by the CronJob of components/backup')
    .option('--yes', 'do not ask for confirmation')
    .action(async (name: string, { stored = false, yes = false }: RestoreOptions, command: Command) => {
      const options = globalOptions(command);
      const cluster = await clusterOf(io, options, `npm start -- --restore ${name}`);
      const backup = stored ? undefined : await backupIn(name);
      const what = backup ? `the ${backup.items.length} objects of ${backup.time}` : `the backup ${name}`;
      if (!yes) await confirm(io, what);
      await replace(io, options, cluster, stored ? name : undefined, () => createReadStream(name));
    });
}

async function clusterOf(io: Io, options: GlobalOptions, instead: string): Promise<Cluster> {
  const cluster = await connect(io, options);
  if (await isStandalone(cluster, io.signal))
    throw new Failure(exitCodes.no, `this is the standalone: stop it, and run "${instead}"`);
  return cluster;
}

async function confirm(io: Io, what: string): Promise<void> {
  if (!io.isInteractive) throw usage('confirmation needs a terminal: give --yes');
  const answer = await io.ask(`Replace all objects of ARC in this cluster by ${what}? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failure(exitCodes.no, 'cancelled: nothing was changed');
}

/** Reads and verifies a whole backup file. */
async function backupIn(file: string): Promise<Backup> {
  const unzipped = createReadStream(file).on('error', (error) => gunzip.destroy(error));
  const gunzip = createGunzip();
  return readBackup(unzipped.pipe(gunzip)).catch((caught: unknown) => {
    const { message } = ArcError.from(caught);
    throw new Failure(exitCodes.no, `invalid backup ${file}: ${message}`);
  });
}

/** Stops the API, restores, and starts the API. Safe to repeat; after a failure the API stays stopped, and the message says so. */
async function replace(
  io: Io,
  options: GlobalOptions,
  cluster: Cluster,
  stored: string | undefined,
  content: () => Readable,
): Promise<void> {
  io.note('Stopping api-server. Running Workflows continue.');
  await stopServer(cluster, io.signal);
  try {
    const restorer = await startRestorePod(cluster, stored !== undefined, io.signal);
    try {
      const said: Buffer[] = [];
      const output = new Writable({
        write(chunk: Buffer, _, done) {
          said.push(chunk);
          done();
        },
      });
      const streams = stored === undefined ? { input: content(), output } : { output };
      await execInPod(io, options, restorer, [...program, 'restore', stored ?? '-'], streams);
      const owners = Buffer.concat(said).toString().trim().split('\n').filter(Boolean);
      const known = owners.map((line): KnownOwner => JSON.parse(line));
      const kept = await keepRuns(cluster, known, io.signal);
      if (kept > 0) io.note(`${kept} Workflows started after the backup: their Orders adopt them.`);
    } finally {
      await restorer.remove();
    }
  } catch (caught) {
    io.note('api-server stays stopped: run the same command again.');
    throw caught;
  }
  io.note('Starting api-server.');
  await startServer(cluster, io.signal);
  io.line('restored');
}
