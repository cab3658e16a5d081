import { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { apiVersion } from '#shared/domain';
import { version } from '../../version/version.ts';
import type { Io } from '../core/io.ts';
import { outputOption } from '../core/options.ts';
import { formatOf, printValue } from '../core/print.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';

interface VersionOptions {
  client?: boolean;
  output?: string;
}

interface Versions {
  client: string;
  node: string;
  server?: string;
  kubernetes?: string;
  /** The version of ARC's API that the cluster serves; absent if it serves none. */
  api?: string;
}

/** `arcctl version`: prints the versions of this program, of the cluster, and of ARC's API. */
export function versionCommand(io: Io): Command {
  return new Command('version')
    .description('Print the versions of arcctl, the cluster and its ARC API')
    .option('--client', 'only the version of arcctl, without contacting the cluster')
    .addOption(outputOption(['json', 'yaml']))
    .action(async (options: VersionOptions, command: Command) => {
      const format = formatOf(options.output);
      const own: Versions = { client: version, node: process.versions.node };
      const cluster = options.client ? undefined : await connect(io, globalOptions(command));
      const versions = cluster ? { ...own, ...(await serverVersions(io, cluster)) } : own;
      if (format === 'json' || format === 'yaml') return printValue(io, format, versions);
      io.line(`arcctl      ${versions.client} (Node ${versions.node})`);
      if (!cluster) return;
      io.line(`Kubernetes  ${versions.kubernetes ?? 'unknown'} (${cluster.server})`);
      io.line(`ARC API     ${versions.api ?? 'not served: install ARC, see knative/README.md'}`);
    });
}

async function serverVersions(io: Io, { transport, server }: Cluster): Promise<Partial<Versions>> {
  const [kubernetes, api] = await Promise.all([
    transport.send({ method: 'GET', path: '/version' }, io.signal),
    transport.send({ method: 'GET', path: `/apis/${apiVersion}` }, io.signal).then(
      () => apiVersion,
      (caught: unknown) => {
        if (ArcError.is(caught, 'NotFound', 'ServiceUnavailable')) return undefined;
        throw caught;
      },
    ),
  ]);
  const { gitVersion } = isRecord(kubernetes) ? kubernetes : {};
  return {
    server,
    ...(typeof gitVersion === 'string' && { kubernetes: gitVersion }),
    ...(api !== undefined && { api }),
  };
}
