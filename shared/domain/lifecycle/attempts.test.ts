import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { artifactWorkflow } from '../testing/objects.ts';
import { isFinished, missingAccount } from './attempts.ts';

describe('missingAccount', () => {
  const failed = (message: string, more: ArtifactWorkflowStatus = {}) =>
    artifactWorkflow('order-0123456789abcdef', {
      status: { phase: 'Failed', attempts: 1, message, ...more },
    });

  it.each([
    'pods "w" is forbidden: error looking up service account team/signer: serviceaccount "signer" not found',
    'step sign: serviceaccounts "signer" not found',
  ])('is named by Argo: %s', (message) => {
    expect(missingAccount(failed(message))).toBe('signer');
    expect(isFinished(failed(message))).toBe(false);
  });

  it.each<[string, string, ArtifactWorkflowStatus]>([
    [
      'its worker',
      'serviceaccount "signer" not found',
      { results: { outcome: 'failed', reason: 'permanent' } },
    ],
    ['a container that Argo quotes', 'main: Error (exit code 1): serviceaccounts "signer" not found', {}],
    [
      'the log of a container',
      'main: Error (exit code 1)\nthe log of pod "w" ends with:\nNotFound: serviceaccounts "signer" not found',
      {},
    ],
  ])('is not what %s says: its pod had one, and it does not run again for ever', (_, message, more) => {
    expect(missingAccount(failed(message, more))).toBeUndefined();
    expect(isFinished(failed(message, more))).toBe(true);
  });
});
