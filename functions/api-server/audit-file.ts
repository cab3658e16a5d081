import { readFile } from 'node:fs/promises';
import { type AuditPolicy, parseAuditPolicy } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import type { Logger, Metrics } from '#shared/telemetry';
import { openRotatingFile } from './rotating-file.ts';

export interface AuditSettings {
  ARC_AUDIT_POLICY_FILE?: string | undefined;
  ARC_AUDIT_LOG_FILE: string;
  /** Megabytes, and number of former files. */
  ARC_AUDIT_LOG_MAX_SIZE: number;
  ARC_AUDIT_LOG_MAX_BACKUPS: number;
}

export interface AuditFile {
  policy: AuditPolicy;
  write(line: string): void;
  /** Resolves when everything written is in the file. */
  close(): Promise<void>;
}

/** Bytes that may wait for whoever reads stdout; what comes on top is counted and lost. */
const waitingLimit = 64 * 1024 * 1024;

/**
 * The audit log that the settings ask for; undefined where they name no policy. Rejects with Invalid for a wrong policy and
 * with ServiceUnavailable where policy or log cannot be opened.
 */
export async function openAudit(
  settings: AuditSettings,
  metrics: Metrics,
  log: Logger,
): Promise<AuditFile | undefined> {
  const { ARC_AUDIT_POLICY_FILE: policyFile, ARC_AUDIT_LOG_FILE: file } = settings;
  if (policyFile === undefined) return undefined;
  const text = await readFile(policyFile, 'utf8').catch((caught: unknown) => {
    throw unavailable(`cannot read the audit policy ${policyFile}`, caught);
  });
  const policy = parseAuditPolicy(text);
  const written = metrics.counter({ name: 'apiserver_audit_event_total', help: 'Audit events made.' });
  const lost = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events lost because they could not be written, or not fast enough.',
    labels: ['plugin'],
  });
  const lose = (lines: number) => lost.inc({ plugin: 'log' }, lines);
  const sink =
    file === '-'
      ? standardOutput()
      : await openRotatingFile({
          file,
          maxBytes: settings.ARC_AUDIT_LOG_MAX_SIZE * 1024 * 1024,
          maxBackups: settings.ARC_AUDIT_LOG_MAX_BACKUPS,
          onLost(lines, error) {
            lose(lines);
            log.error({ err: error, lines }, 'audit events could not be written and are lost');
          },
        }).catch((caught: unknown) => {
          throw unavailable(`cannot write the audit log ${file}`, caught);
        });
  return {
    policy,
    write(line) {
      written.inc();
      if (!sink.write(line)) lose(1);
    },
    close: () => sink.close(),
  };
}

/** Whoever runs the process keeps and rotates what comes out of it. */
function standardOutput() {
  return {
    write(line: string) {
      if (process.stdout.writableLength > waitingLimit) return false;
      process.stdout.write(`${line}\n`);
      return true;
    },
    close: async () => undefined,
  };
}

function unavailable(what: string, caught: unknown): ArcError {
  return new ArcError('ServiceUnavailable', `${what}: ${ArcError.from(caught).message}`);
}
