import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AuditPolicy, parseAuditPolicy } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import type { Metrics } from '#shared/telemetry';

export interface AuditSettings {
  ARC_AUDIT_POLICY_FILE?: string | undefined;
  ARC_AUDIT_LOG_FILE: string;
}

export interface AuditFile {
  policy: AuditPolicy;
  write(line: string): void;
  /** Resolves when everything written is in the file. */
  close(): Promise<void>;
}

/** Bytes that may wait for a slow disk; what comes on top is counted and lost. */
const waitingLimit = 64 * 1024 * 1024;

/**
 * The audit log that the settings ask for; undefined where they name no policy. Rejects with Invalid for a wrong policy and
 * with ServiceUnavailable where policy or log cannot be opened.
 */
export async function openAudit(settings: AuditSettings, metrics: Metrics): Promise<AuditFile | undefined> {
  const { ARC_AUDIT_POLICY_FILE: policyFile, ARC_AUDIT_LOG_FILE: logFile } = settings;
  if (policyFile === undefined) return undefined;
  const text = await readFile(policyFile, 'utf8').catch((caught: unknown) => {
    throw unavailable(`cannot read the audit policy ${policyFile}`, caught);
  });
  const policy = parseAuditPolicy(text);
  const written = metrics.counter({ name: 'apiserver_audit_event_total', help: 'Audit events written.' });
  const lost = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events lost because they could not be written, or not fast enough.',
  });
  const out = logFile === '-' ? process.stdout : createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  if (out !== process.stdout) {
    await once(out, 'open').catch((caught: unknown) => {
      throw unavailable(`cannot write the audit log ${logFile}`, caught);
    });
  }
  let isBroken = false;
  out.on('error', () => {
    isBroken = true;
    lost.inc();
  });
  return {
    policy,
    write(line) {
      if (isBroken || out.writableLength > waitingLimit) return lost.inc();
      out.write(`${line}\n`);
      written.inc();
    },
    async close() {
      if (out === process.stdout || isBroken) return;
      out.end();
      await once(out, 'close');
    },
  };
}

function unavailable(what: string, caught: unknown): ArcError {
  return new ArcError('ServiceUnavailable', `${what}: ${ArcError.from(caught).message}`);
}
