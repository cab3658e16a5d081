import { describe, expect, it } from 'vitest';
import { finishedPatch, fnv32, nodesOf, progressOf, refusedPatch, startedPatch } from './status.ts';
import type { Workflow } from './workflow.ts';

const workflow: Workflow = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'w', namespace: 'ns', uid: 'u' },
  spec: {},
};
const now = '2026-01-01T00:00:00Z';
const failed = { phase: 'Failed', message: 'main: Error (exit code 3)', exitCode: '3', outputs: [] } as const;

describe('the patches', () => {
  it('keep the first start when a Workflow starts again', () => {
    expect(startedPatch(workflow, now)).toMatchObject({
      metadata: {
        uid: 'u',
        labels: { 'workflows.argoproj.io/phase': 'Running', 'workflows.argoproj.io/completed': 'false' },
      },
      status: { phase: 'Running', startedAt: now },
    });
    const again = { ...workflow, status: { startedAt: '2025-01-01T00:00:00Z' } };
    expect(startedPatch(again, now).status.startedAt).toBe('2025-01-01T00:00:00Z');
  });

  it('completes a run that never began', () => {
    expect(refusedPatch(workflow, 'Error', 'no template', now)).toMatchObject({
      metadata: { labels: { 'workflows.argoproj.io/completed': 'true' } },
      status: {
        phase: 'Error',
        message: 'no template',
        finishedAt: now,
        conditions: [{ type: 'Completed' }],
      },
    });
  });

  it('lift global outputs', () => {
    const outputs = [
      { name: 'result', globalName: 'all', value: '{}' },
      { name: 'own', value: '1' },
    ];
    const result = { phase: 'Succeeded', exitCode: '0', outputs } as const;
    const patch = finishedPatch(workflow, {
      result: { ...result, outputs },
      nodes: {},
      progress: '1/1',
      now,
    });
    expect(patch.status.outputs).toEqual({ parameters: [{ name: 'all', value: '{}' }] });
  });
});

describe('nodesOf', () => {
  const attempt = { startedAt: now, finishedAt: now, result: { ...failed, outputs: [] } };

  it('is one pod, with exit code and message', () => {
    expect(nodesOf(workflow, 't', [attempt], false)).toEqual({
      w: {
        id: 'w',
        name: 'w',
        displayName: 'w',
        type: 'Pod',
        templateName: 't',
        phase: 'Failed',
        message: failed.message,
        startedAt: now,
        finishedAt: now,
        outputs: { exitCode: '3' },
      },
    });
  });

  it('is a Retry over its attempts', () => {
    const nodes = nodesOf(workflow, 't', [attempt, { startedAt: now }], true);
    const id = `w-${fnv32('w(0)')}`;
    expect(nodes.w).toMatchObject({ type: 'Retry', phase: 'Running', children: [id, `w-${fnv32('w(1)')}`] });
    expect(nodes[id]).toMatchObject({ type: 'Pod', phase: 'Failed', name: 'w(0)' });
  });
});

describe('fnv32', () => {
  it('is FNV-1a', () => {
    expect(fnv32('')).toBe(0x811c9dc5);
    expect(fnv32('a')).toBe(0xe40c292c);
    expect(fnv32('foobar')).toBe(0xbf9cf968);
  });
});

describe('progressOf', () => {
  it.each([
    ['1/2\n', '1/2'],
    ['0/5', '0/5'],
    ['3/2', undefined],
    ['0/0', undefined],
    ['x', undefined],
    [undefined, undefined],
  ])('%j', (text, expected) => expect(progressOf(text)).toBe(expected));
});
