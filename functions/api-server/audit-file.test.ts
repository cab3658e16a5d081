import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger, createMetrics } from '#shared/telemetry';
import { openAudit } from './audit-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-audit-'));
});
afterEach(() => rm(folder, { recursive: true }));

const log = createLogger({ name: 'test', level: 'silent' });
const bounds = { ARC_AUDIT_LOG_MAX_SIZE: 1, ARC_AUDIT_LOG_MAX_BACKUPS: 1 };

describe('openAudit', () => {
  it('appends lines that are in the file when it is closed, and counts them', async () => {
    const policy = path.join(folder, 'policy.yaml');
    const file = path.join(folder, 'audit.log');
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]');
    await writeFile(file, 'before\n');
    const metrics = createMetrics();
    const audit = await openAudit(
      { ...bounds, ARC_AUDIT_POLICY_FILE: policy, ARC_AUDIT_LOG_FILE: file },
      metrics,
      log,
    );
    expect(audit?.policy.rules).toHaveLength(1);
    audit?.write('one');
    audit?.write('two');
    await audit?.close();
    expect(await readFile(file, 'utf8')).toBe('before\none\ntwo\n');
    expect(metrics.expose()).toContain('apiserver_audit_event_total 2\n');
  });

  it('is off without a policy, and names what cannot be opened', async () => {
    const metrics = createMetrics();
    expect(await openAudit({ ...bounds, ARC_AUDIT_LOG_FILE: '-' }, metrics, log)).toBeUndefined();
    const missing = path.join(folder, 'missing.yaml');
    await expect(
      openAudit({ ...bounds, ARC_AUDIT_POLICY_FILE: missing, ARC_AUDIT_LOG_FILE: '-' }, metrics, log),
    ).rejects.toThrow(missing);
  });
});
