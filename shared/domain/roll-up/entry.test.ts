import { describe, expect, it } from 'vitest';
import { printableLines } from '#shared/base/errors';
import { anyCharacter, fc } from '#shared/base/testing';
import type { ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Artifact } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { done, image, inputs, made, now, order, stored } from '../testing/plan-objects.ts';
import { cut } from '../values/text.ts';
import { entryBudget, entryFor } from './entry.ts';

describe('entryFor', () => {
  const entryOf = (status: ArtifactWorkflowStatus, deletionTimestamp?: string) => {
    const [artifact] = planOrder(order([image('app')]), inputs()).artifacts;
    if (artifact?.state !== 'ready') throw new Error('not ready');
    const workflow = stored(artifact.workflow, status);
    const metadata = { ...workflow.metadata, ...(deletionTimestamp && { deletionTimestamp }) };
    const current = { artifact, key: artifact.key, workflow: { ...workflow, metadata }, versions: [] };
    return entryFor(current, entryBudget(1), { before: undefined, refusals: {}, now });
  };

  it('says why an artifact has no configuration while it waits for one', () => {
    const configMessage = 'Secret "login" not found';
    expect(entryOf({ configMessage })).toMatchObject({ phase: 'Pending', message: configMessage });
    expect(entryOf({ configMessage, phase: 'Running' }).message).toBeUndefined();
  });

  it.each<[string, ArtifactWorkflowStatus, string, string]>([
    [
      'an unusable Secret',
      { configReason: 'SecretUnusable', configMessage: 'no keys' },
      'SecretUnusable',
      'no keys',
    ],
    ['a rival', { waitReason: 'PlaceInUse', waitMessage: 'b is there' }, 'PlaceInUse', 'b is there'],
    [
      'Argo',
      { workflowRef: { kind: 'Workflow', name: 'w', attempt: 1 } },
      'Starting',
      'Argo has not started its Workflow yet',
    ],
    ['a queue', { phase: 'Queued', message: 'third in line' }, 'Queued', 'third in line'],
    ['nothing but us', {}, 'Preparing', 'its Workflow is being prepared'],
    [
      'an account',
      { phase: 'Error', message: 'pods "x" is forbidden: serviceaccount "arc-workflow" not found' },
      'AccountMissing',
      'ServiceAccount "arc-workflow" not found: create it with kubectl apply -k knative/tenant -n team',
    ],
    [
      "an account of a template's own",
      { phase: 'Error', message: 'serviceaccount "signer" not found' },
      'AccountMissing',
      'ServiceAccount "signer" not found: create it',
    ],
  ])('names the reason while it waits for %s', (_, status, reason, message) => {
    expect(entryOf(status)).toMatchObject({ reason, message, since: '2026-01-02T03:04:05Z' });
  });

  it('shows no end by a cancel that the Order has taken back, before the ArtifactWorkflow knows', () => {
    const [artifact] = planOrder(order([image('app')]), inputs()).artifacts;
    if (artifact?.state !== 'ready') throw new Error('not ready');
    const ended = stored(artifact.workflow, { phase: 'Cancelled' });
    const cancelled = { ...ended, spec: { ...ended.spec, cancel: true } };
    const noted = { ...cancelled.metadata, annotations: { [annotations.orderCancel]: 'true' } };
    const phaseIn = (cancel: object, workflow: typeof cancelled) => {
      const current = { artifact: { ...artifact, ...cancel }, key: artifact.key, workflow, versions: [] };
      return entryFor(current, entryBudget(1), { before: undefined, refusals: {}, now }).phase;
    };
    expect(phaseIn({}, { ...cancelled, metadata: noted })).toBe('Pending');
    expect(phaseIn({ cancel: true }, { ...cancelled, metadata: noted })).toBe('Cancelled');
    // Cancelled by itself, it stays so until it is retried.
    expect(phaseIn({}, cancelled)).toBe('Cancelled');
  });

  it('says why it runs again, while it runs', () => {
    const running = made(order([image('app')]), { phase: 'Running' });
    const metadata = { ...running.metadata, annotations: { [annotations.cause]: 'it was edited' } };
    const [artifact] = planOrder(order([image('app')]), inputs()).artifacts;
    if (!artifact) throw new Error('nothing is planned');
    const current = { artifact, key: artifact.key, workflow: { ...running, metadata }, versions: [] };
    const context = { before: undefined, refusals: {}, now };
    expect(entryFor(current, entryBudget(1), context).message).toBe('it runs again: it was edited');
  });

  it('says since when it runs, which version it is, and of which ArtifactWorkflow', () => {
    const startTime = '2026-01-02T03:00:00Z';
    const running = { phase: 'Running', startTime, progress: '1/2' } as const;
    const entry = entryOf(running);
    expect(entry).toMatchObject({ since: startTime, progress: '1/2' });
    expect(entry.artifactWorkflow).toMatch(/^release-[0-9a-f]{16}$/);
  });

  it('says when the next attempt comes after a failure that is tried again without being asked for', () => {
    const failed = { phase: 'Failed', message: 'no answer', results: { reason: 'retryable' } } as const;
    expect(entryOf({ ...failed, nextAttemptTime: '2026-01-02T03:00:10Z' })).toEqual({
      artifactIndex: 0,
      artifactWorkflow: expect.stringMatching(/^release-[0-9a-f]{16}$/),
      artifact: 'app',
      name: 'app',
      phase: 'Pending',
      reason: 'Retrying',
      message: 'attempt 1 failed, trying again at 2026-01-02T03:00:10Z: no answer',
      since: '2026-01-02T03:04:05Z',
    });
  });

  it.each([['renamed'], [undefined]])('calls what is only recorded by its present name: %s', (name) => {
    const planned = (artifact: Artifact) => planOrder(order([artifact]), inputs()).artifacts[0];
    const [old, artifact] = [image('app'), { ...image('app'), name }].map((one) => planned(one as Artifact));
    if (!old || !artifact) throw new Error('nothing is planned');
    const ended = made(order([image('app')]), done);
    const context = { before: undefined, refusals: {}, now };
    const recorded = entryFor(
      { artifact: old, key: old.key, workflow: ended, versions: [] },
      entryBudget(1),
      context,
    );
    expect(artifact.key).toBe(old.key);
    const expired = { artifact, key: artifact.key, recorded, versions: [] };
    expect(entryFor(expired, entryBudget(1), context).artifact).toBe(name);
  });

  const completionTime = '2026-01-02T03:04:05Z';
  // Whatever the clocks of Argo and of the API server say: sync-status gives the first no completionTime.
  it.each([
    [
      'because its ArtifactWorkflow was deleted is to be made anew',
      undefined,
      '2026-01-02T03:04:00Z',
      'Pending',
    ],
    ['before its ArtifactWorkflow was deleted stays so', completionTime, '2026-01-02T03:04:00Z', 'Stopped'],
    ['and not deleted stays so', completionTime, undefined, 'Stopped'],
  ])('what was stopped %s', (_, ended, deleted, phase) => {
    const status = { phase: 'Stopped' as const, ...(ended && { completionTime: ended }) };
    expect(entryOf(status, deleted).phase).toBe(phase);
  });
});

describe('cut', () => {
  it('keeps what fits and bounds what does not, by its size in JSON, and escapes control characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 200 }),
        fc.integer({ min: 8, max: 300 }),
        (text, bytes) => {
          const result = cut(text, bytes);
          const size = (one: string) => Buffer.byteLength(JSON.stringify(one)) - 2;
          expect(size(result)).toBeLessThanOrEqual(bytes);
          expect(result).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
          const shown = printableLines(text);
          if (size(shown) <= bytes) expect(result).toBe(shown);
          else expect(result.endsWith('…')).toBe(true);
        },
      ),
    );
  });
});

describe('entryBudget', () => {
  it('shrinks as artifacts grow in number and never vanishes', () => {
    expect(entryBudget(1)).toEqual({ details: true, messageBytes: 2_048 });
    expect(entryBudget(5_000)).toEqual({ details: false, messageBytes: 32 });
    for (let count = 1; count < 10_000; count += 97) {
      expect(entryBudget(count).messageBytes).toBeGreaterThanOrEqual(32);
    }
  });
});
