import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, owesAttempt } from '#shared/domain';
import { exitCodes } from '#shared/transfer';
import { report } from './report.ts';

describe('the report', () => {
  it('writes one line to stdout and the result file, and a message of at most 4 KiB for Kubernetes', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-report-'));
    const [resultFile, terminationLog] = [path.join(folder, 'sub', 'result.json'), path.join(folder, 'log')];
    const lines: string[] = [];
    const outcome = {
      outcome: 'failed',
      reason: 'permanent',
      message: `two\nlines ${'é'.repeat(4000)}`,
    } as const;
    await report(outcome, {
      resultFile,
      terminationLog,
      print: (line) => lines.push(line),
      warn: () => expect.unreachable(),
    });
    expect(lines).toEqual([JSON.stringify(outcome)]);
    expect(lines[0]).not.toContain('\n');
    expect(await readFile(resultFile, 'utf8')).toBe(lines[0]);
    const log = await readFile(terminationLog, 'utf8');
    expect(Buffer.byteLength(log)).toBeLessThanOrEqual(4096);
    expect(outcome.message.startsWith(log)).toBe(true);
    await rm(folder, { recursive: true });
  });

  it('is printed although the files cannot be written', async () => {
    const lines: string[] = [];
    const warnings: string[] = [];
    await report(
      { outcome: 'failed', reason: 'retryable', message: 'full' },
      {
        resultFile: '/dev/null/x',
        terminationLog: '/dev/null/y',
        print: (l) => lines.push(l),
        warn: (l) => warnings.push(l),
      },
    );
    expect(lines).toHaveLength(1);
    expect(warnings).toHaveLength(2);
  });
});

describe('a failure reason', () => {
  it.each(Object.keys(exitCodes))('%s leads to another attempt only if one can help', (reason) => {
    const workflow: ArtifactWorkflow = {
      apiVersion: 'arc.opendefense.cloud/v1alpha1',
      kind: 'ArtifactWorkflow',
      metadata: { name: 'a' },
      spec: { workflowTemplateRef: { name: 't' }, retry: { limit: 1 } },
      status: { phase: 'Failed', results: { outcome: 'failed', reason } },
    };
    expect(owesAttempt(workflow)).toBe(reason === 'retryable');
  });
});
