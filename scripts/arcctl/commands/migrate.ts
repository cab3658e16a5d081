import { Command } from 'commander';
import { exitCodes, Failure, usage } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { readManifests } from '../core/manifests.ts';
import { collectValues } from '../core/options.ts';
import { connect, globalOptions } from '../core/session.ts';
import type { Foreign } from '../migrate/convert.ts';

/** All Orders of a cluster, with their status. */
const largestDump = 256 * 1024 * 1024;

interface MigrateOptions {
  filename?: string[];
  fromContext?: string;
  fromKubeconfig?: string;
  dryRun?: boolean;
}

/** `arcctl migrate`: migrates the objects of the Go ARC, with the status of finished artifacts. */
export function migrateCommand(io: Io): Command {
  return new Command('migrate')
    .description('Migrate Orders, Endpoints and types from the Go ARC; finished artifacts do not run again')
    .option('-f, --filename <file>', 'output of "kubectl get -o yaml"; repeatable', collectValues)
    .option('--from-context <name>', 'read from the cluster of this context instead of a file')
    .option('--from-kubeconfig <file>', 'kubeconfig of that context')
    .option('--dry-run', 'print what would be migrated, but store nothing')
    .action(async (options: MigrateOptions, command: Command) => {
      const given = globalOptions(command);
      const { migrate } = await import('../migrate/migrate.ts');
      const read = await objectsOf(io, options);
      const objects = read.filter(
        ({ metadata }) => !given.namespace || (metadata.namespace ?? given.namespace) === given.namespace,
      );
      if (objects.length === 0) throw usage('found no objects of ARC to migrate');
      const cluster = await connect(io, given);
      const failures = await migrate({ io, cluster, dryRun: options.dryRun === true }, objects);
      if (failures.length > 0) throw new Failure(exitCodes.no, failures.join('\n'));
    });
}

async function objectsOf(io: Io, options: MigrateOptions): Promise<Foreign[]> {
  const { filename = [], fromContext, fromKubeconfig } = options;
  const isCluster = fromContext !== undefined || fromKubeconfig !== undefined;
  if (filename.length > 0 === isCluster)
    throw usage('name the source: files with -f, or the cluster of the Go ARC with --from-context');
  const { isMigrated, migratedKinds } = await import('../migrate/migrate.ts');
  if (!isCluster) {
    const found = (await Promise.all(filename.map((file) => readManifests(file, largestDump)))).flat();
    const others = found
      .filter((object) => !isMigrated(object))
      .map(({ kind, apiVersion }) => `${kind} of ${apiVersion}`);
    if (others.length > 0) io.note(`Skipped kinds: ${[...new Set(others)].join(', ')}`);
    return found.filter(isMigrated);
  }
  const choice = {
    ...(fromContext === undefined ? {} : { context: fromContext }),
    ...(fromKubeconfig === undefined ? {} : { kubeconfig: fromKubeconfig }),
  };
  const { api } = await connect(io, choice);
  const pages = await Promise.all(
    migratedKinds().map(async (kind) => {
      const { items } = await api.list(kind, {}, io.signal);
      // A list names the kind of its items once.
      return items.map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
    }),
  );
  return pages.flat().filter(isMigrated);
}
