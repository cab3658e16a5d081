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

  it('masks what a template of somebody else has printed, and not the words of the worker', () => {
    const node = pod('pull', 'main: Error (exit code 1): PASSWORD=hunter2', '2026-01-01T00:00:01Z');
    expect(failureMessage(failed({ nodes: { node } }), undefined)).toBe(
      'step pull: main: Error (exit code 1): PASSWORD=***',
    );
    expect(failureMessage(failed({}), 'the token: expired')).toBe('the token: expired');
  });

  it('ends with the log, which is not said twice', () => {
    const node = pod('pull', 'main: Error (exit code 1): two\nthree\n', '2026-01-01T00:00:01Z');
    const workflow = failed({ message: node.message, nodes: { node } });
    const tail = { namespace: 'team', pod: 'w-1', text: 'one\ntwo\nthree' };
    expect(failureMessage(workflow, undefined, tail)).toBe(
      'main: Error (exit code 1)\nthe log of pod "w-1" ends with:\none\ntwo\nthree',
    );
    const empty = { ...tail, text: '' };
    expect(failureMessage(workflow, undefined, empty)).toBe('main: Error (exit code 1): two\nthree');
  });

  it('says where the log is that it does not quote', () => {
    const tail = { namespace: 'team', pod: 'w-1' };
    expect(failureMessage(failed({ message: 'Error (exit code 1)' }), undefined, tail)).toBe(
      'Error (exit code 1); the step can read a Secret, so its log is not quoted here: kubectl logs -n team w-1 -c main',
    );
  });

  it('is bounded and may be empty', () => {
    expect(
      Buffer.byteLength(failureMessage(failed({ message: 'x'.repeat(100_000) }), undefined)),
    ).toBeLessThan(6_200);
    expect(failureMessage(failed({}), undefined)).toBe('');
  });
});
