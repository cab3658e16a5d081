import { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { describeFailure, exitCodes, Failure } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import { outputOption } from '../core/options.ts';
import { formatOf, printTable, printValue } from '../core/print.ts';
import { connect, globalOptions } from '../core/session.ts';
import { type Check, clusterChecks } from '../model/cluster-checks.ts';
import type { Finding } from '../model/findings.ts';
import { namespaceChecks } from '../model/namespace-checks.ts';

interface DoctorOptions {
  output?: string;
}

const styles = { ok: 'green', bad: 'red', warn: 'yellow', unknown: 'dim' } as const;

/** `arcctl doctor`: checks whether the cluster and one namespace are ready for Orders; each finding comes with a fix. */
export function doctorCommand(io: Io): Command {
  return new Command('doctor')
    .description(
      'Check whether the cluster and the namespace are ready for Orders, with a fix for each finding',
    )
    .addOption(outputOption(['json', 'yaml']))
    .action(async (options: DoctorOptions, command: Command) => {
      const format = formatOf(options.output);
      const cluster = await connect(io, globalOptions(command));
      const findings: Finding[] = [];
      for (const check of [...clusterChecks, ...namespaceChecks]) {
        const found = await checked(io, check, cluster);
        findings.push(...found);
        // The first check is whether the cluster is reachable: if not, the others would fail in the same way.
        if (findings.length === found.length && found.some(({ state }) => state === 'bad')) break;
      }
      if (format === 'json' || format === 'yaml') await printValue(io, format, findings);
      else printFindings(io, findings);
      const wrong = findings.filter(({ state }) => state === 'bad').length;
      if (wrong > 0)
        throw new Failure(
          exitCodes.no,
          format ? '' : wrong === 1 ? '1 check failed' : `${wrong} checks failed`,
        );
    });
}

async function checked(
  io: Io,
  { name, run }: Check,
  cluster: Parameters<Check['run']>[0],
): Promise<Finding[]> {
  try {
    return await run(cluster, io.signal);
  } catch (caught) {
    if (io.signal.aborted) throw caught;
    const [message = ''] = describeFailure(caught).message.split('\n', 1);
    return [{ check: name, state: ArcError.is(caught, 'Forbidden') ? 'unknown' : 'bad', message }];
  }
}

function printFindings(io: Io, findings: readonly Finding[]): void {
  printTable(
    io,
    ['CHECK', 'STATE', 'MESSAGE'],
    findings.map(({ check, state, message }) => [
      check,
      { text: state, style: styles[state] },
      message.split('\n', 1)[0] ?? '',
    ]),
  );
  const mended = findings.filter(({ state, fix }) => fix !== undefined && state !== 'ok');
  if (mended.length > 0) io.line();
  for (const { check, fix } of mended) io.line(`${check}: ${fix}`);
}
