import { readFile } from 'node:fs/promises';
import { ArcError } from '#shared/base/errors';
import type { Metrics } from '#shared/base/telemetry';
import { type AuditPolicy, parseAuditPolicy } from '#shared/kubernetes/apiserver';
import type { LineOutput } from './line-output.ts';

export interface AuditLog {
  policy: AuditPolicy;
  write(line: string): void;
}

/**
 * The audit log by a policy file: audit.k8s.io/v1 Events as JSON lines on `output`, as `--audit-log-path=-` makes
 * kube-apiserver do; undefined without a policy file. Rejects with ServiceUnavailable when the file cannot be read and with
 * Invalid when it holds no policy.
 */
export async function openAuditLog(
  policyFile: string | undefined,
  output: LineOutput,
  metrics: Metrics,
): Promise<AuditLog | undefined> {
  if (policyFile === undefined) return undefined;
  const text = await readFile(policyFile, 'utf8').catch((caught: unknown) => {
    const why = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `cannot read the audit policy ${policyFile}: ${why}`);
  });
  const policy = parseAuditPolicy(text);
  const written = metrics.counter({ name: 'apiserver_audit_event_total', help: 'Audit events made.' });
  const lost = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events lost because the reader of the log was too slow or has gone.',
    labels: ['plugin'],
  });
  return {
    policy,
    write(line) {
      written.inc();
      if (!output.write(`${line}\n`)) lost.inc({ plugin: 'log' });
    },
  };
}
