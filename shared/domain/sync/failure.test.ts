import { describe, expect, it } from 'vitest';
import type { Workflow, WorkflowStatus } from '../kinds/argo.ts';
import { failureMessage } from './failure.ts';

function failed(status: WorkflowStatus): Workflow {
  return { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', metadata: { name: 'w' }, spec: {}, status };
}

const pod = (name: string, message: string, finishedAt: string) => ({
  name,
  displayName: name,
  type: 'Pod',
  phase: 'Failed',
  message,
  finishedAt,
});

describe('failureMessage', () => {
  it('names the last failed steps first, whatever their order in the map', () => {
    const a = pod('push', 'exit code 10', '2026-01-01T00:00:02Z');
    const b = pod('pull', 'exit code 1', '2026-01-01T00:00:01Z');
    const expected = 'step push: exit code 10; step pull: exit code 1';
    expect(failureMessage(failed({ nodes: { a, b } }), undefined)).toBe(expected);
    expect(failureMessage(failed({ nodes: { b, a } }), undefined)).toBe(expected);
  });

  it('says nothing twice, though Argo quotes the worker in the Workflow and in the node', () => {
    const quoted = 'main: Error (exit code 11): The image is not there.';
    const node = pod('transfer', quoted, '2026-01-01T00:00:02Z');
    const text = failureMessage(failed({ message: quoted, nodes: { node } }), 'The image is not there.');
    expect(text).toBe('The image is not there.');
  });

  it.each(['main: Error (exit code 137)', 'OOMKilled (exit code 137)', 'OOMKilled'])(
    'says what may have happened and what to do after "%s"',
    (message) => {
      const node = pod('transfer', message, '2026-01-01T00:00:02Z');
      const text = failureMessage(failed({ message, nodes: { node } }), undefined);
      expect(text).toMatch(/^the worker was killed .*memory.*retry-at/);
      expect(text.endsWith(`; ${message}`)).toBe(true);
      expect(failureMessage(failed({ message, nodes: { node } }), 'It reported.')).not.toContain(
        'killed before',
      );
    },
  );

  it('is bounded and may be empty', () => {
    expect(
      Buffer.byteLength(failureMessage(failed({ message: 'x'.repeat(100_000) }), undefined)),
    ).toBeLessThan(6_200);
    expect(failureMessage(failed({}), undefined)).toBe('');
  });
});
