import { Command, Option } from 'commander';
import { ArcError } from '#shared/base/errors';
import { orders } from '#shared/domain';
import { usage } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { type Cluster, connect, globalOptions } from '../core/session.ts';

interface DashboardOptions {
  port: string;
  open?: boolean;
}

/** `arcctl dashboard`: serves the console with the permissions of the current user, until Ctrl-C. */
export function dashboardCommand(io: Io): Command {
  return new Command('dashboard')
    .description('Serve the console for Orders, artifacts and Endpoints to a browser on this machine')
    .addOption(new Option('--port <number>', 'port on loopback; 0: any free port').default('0'))
    .option('--open', 'open it in the browser')
    .action(async (options: DashboardOptions, command: Command) => {
      const port = Number(options.port);
      if (!/^\d{1,5}$/.test(options.port) || port > 65_535)
        throw usage(`--port ${JSON.stringify(options.port)}: give a number from 0 to 65535`);
      const given = globalOptions(command);
      const cluster = await connect(io, given);
      const namespace = given.namespace ?? (await readableNamespace(cluster, io.signal));
      const { startDashboard } = await import('../console/server/serve.ts');
      const { url, close } = await startDashboard(cluster, { port, namespace });
      const where = namespace === undefined ? 'all namespaces' : `namespace ${namespace}`;
      io.note(
        `The dashboard of ${cluster.server}, ${where}. Anyone with this URL acts as you. Ctrl-C stops it.`,
      );
      io.line(url);
      await using _page = options.open ? await openInBrowser(io, url) : undefined;
      if (!io.signal.aborted)
        await new Promise((resolve) => io.signal.addEventListener('abort', resolve, { once: true }));
      await close();
    });
}

/** Returns undefined if the user may read all namespaces, else the namespace of the context. */
async function readableNamespace(
  { api, namespace }: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await api.list(orders, { limit: 1 }, signal);
    return undefined;
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden')) throw caught;
    return namespace;
  }
}

async function openInBrowser(io: Io, url: string): Promise<AsyncDisposable | undefined> {
  const { openPage } = await import('../console/server/open-page.ts');
  try {
    return await openPage(url);
  } catch (caught) {
    io.note(`Cannot start a browser: ${ArcError.from(caught).message}. Open the URL manually.`);
    return undefined;
  }
}
