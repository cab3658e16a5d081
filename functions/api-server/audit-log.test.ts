import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { openAuditLog } from './audit-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-audit-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('openAuditLog', () => {
  it('writes lines to the output, and counts them and those that are dropped', async () => {
    const policy = path.join(folder, 'policy.yaml');
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]');
    const metrics = createMetrics();
    const lines: string[] = [];
    const write = (line: string) => lines.length < 2 && lines.push(line) > 0;
    const audit = await openAuditLog(policy, { write }, metrics);
    expect(audit?.policy.rules).toHaveLength(1);
    for (const line of ['one', 'two', 'three']) audit?.write(line);
    expect(lines).toEqual(['one\n', 'two\n']);
    expect(metrics.expose()).toContain('apiserver_audit_event_total 3\n');
    expect(metrics.expose()).toContain('apiserver_audit_error_total{plugin="log"} 1\n');
  });

  it('is off without a policy, and names a file that cannot be read', async () => {
    const output = { write: () => true };
    expect(await openAuditLog(undefined, output, createMetrics())).toBeUndefined();
    const missing = path.join(folder, 'missing.yaml');
    await expect(openAuditLog(missing, output, createMetrics())).rejects.toThrow(
      `cannot read the audit policy ${missing}: `,
    );
  });
});
