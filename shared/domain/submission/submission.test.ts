import { describe, expect, it } from 'vitest';
import { isoSeconds } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import { currentWorkflow } from '../lifecycle/attempts.ts';
import { planOrder } from '../plan/plan.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { startSelectors } from './place.ts';
import { stopGraceMs } from './stopped.ts';
import { decideSubmission, needsRunning, type Submission } from './submission.ts';
import { unreleased, workflowFor } from './workflow.ts';

const rendered: ArtifactWorkflowStatus = { configSecret: { name: 'config' } };

function made(
  status: ArtifactWorkflowStatus = rendered,
  spec: Partial<ArtifactWorkflow['spec']> = {},
): ArtifactWorkflow {
  const [planned] = planOrder(order([image('a')]), inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  const workflow = stored(planned.workflow, status);
  return { ...workflow, spec: { ...workflow.spec, ...spec } };
}

function decide(workflow: ArtifactWorkflow, running?: Workflow | CronWorkflow, more = {}): Submission {
  return decideSubmission({ workflow, running, conflicting: [], now, ...more });
}

const submitted = (workflow: ArtifactWorkflow): ArtifactWorkflowStatus => ({
  ...workflow.status,
  workflowRef: currentWorkflow(workflow),
  attempts: 1,
});

/** Deleted by the clock of the API server, which is a day behind. */
function deleting(workflow: ArtifactWorkflow): ArtifactWorkflow {
  const deletionTimestamp = new Date(now.getTime() - 86_400_000).toISOString();
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp } };
}

/** The same, and submit-workflow began to stop it so long ago. */
function stopping({ status, ...rest }: ArtifactWorkflow, agoMs: number): ArtifactWorkflow {
  const stopSince = new Date(now.getTime() - agoMs).toISOString();
  return deleting({ ...rest, status: { ...status, stopSince } });
}

function phase(object: Workflow | CronWorkflow, status: Workflow['status'], spec = {}): Workflow {
  return { ...(object as Workflow), status: status ?? {}, spec: { ...(object as Workflow).spec, ...spec } };
}

describe('decideSubmission', () => {
  it('creates the first attempt, recording it first', () => {
    const workflow = made();
    const { name } = workflow.metadata;
    expect(decide(workflow)).toMatchObject({
      action: 'create',
      object: { kind: 'Workflow', metadata: { name } },
      status: { workflowRef: { kind: 'Workflow', name, attempt: 1 }, attempts: 1 },
    });
  });

  it('ends its wait for a turn with the record, and a refusal only when the Workflow exists', () => {
    const waiting = (waitReason: 'LimitReached' | 'SubmissionFailed') =>
      decide(made({ ...rendered, waitReason, waitMessage: 'm' }));
    expect(waiting('LimitReached')).toMatchObject({ status: { waitReason: null, waitMessage: null } });
    expect(waiting('SubmissionFailed')).not.toHaveProperty('status.waitReason');
  });

  it('puts the finalizer on first', () => {
    const workflow = made();
    expect(decide({ ...workflow, metadata: { ...workflow.metadata, finalizers: [] } })).toEqual({
      action: 'hold',
    });
  });

  it.each<[string, ArtifactWorkflow, string]>([
    ['its configuration', made({}), 'rendered'],
    ['the end of a suspension', made(rendered, { suspend: true }), 'suspended'],
  ])('waits for %s', (_, workflow, message) => {
    expect(decide(workflow)).toMatchObject({ action: 'wait', message: expect.stringContaining(message) });
  });

  it('does nothing while its Workflow runs and makes it again when it is gone', () => {
    const workflow = made(submitted(made()));
    expect(decide(workflow, workflowFor(workflow, 1) as Workflow)).toEqual({ action: 'none' });
    expect(decide(workflow)).toMatchObject({
      action: 'create',
      object: { metadata: { name: workflow.metadata.name } },
    });
  });

  it('releases a Workflow that is recorded, and discards it when it is being deleted or cancelled', () => {
    const workflow = made(submitted(made()));
    const waiting = unreleased(workflowFor(workflow, 1));
    expect(decide(workflow, waiting)).toMatchObject({ action: 'release', suspend: false });
    expect(decide(made(), waiting)).toMatchObject({ action: 'create' });
    const suspended = made(submitted(made()), { suspend: true });
    expect(decide(suspended, waiting)).toMatchObject({ action: 'wait', message: 'suspended' });
    expect(decide(deleting(workflow), waiting)).toMatchObject({ action: 'stop', how: 'discard' });
    const cancelled = made(submitted(made()), { cancel: true });
    expect(decide(cancelled, waiting)).toMatchObject({ action: 'stop', how: 'discard' });
  });

  it.each([done, broken])('never runs again because its Workflow was cleaned away ($phase)', (end) => {
    expect(decide(made({ ...submitted(made()), ...end }))).toEqual({ action: 'none' });
  });

  it('waits for the Workflow of an earlier one of its name to be removed, and asks nobody to do it', () => {
    const workflow = made();
    const earlier = { ...workflow, metadata: { ...workflow.metadata, uid: 'earlier' } };
    expect(decide(workflow, workflowFor(earlier, 1))).toMatchObject({
      action: 'wait',
      status: { waitReason: 'Preparing', waitMessage: expect.stringContaining('earlier') },
    });
  });

  it('waits for a Workflow of another owner to go', () => {
    const other = workflowFor({ ...made(), metadata: { ...made().metadata, uid: 'older' } }, 1);
    expect(decide(made(), other)).toMatchObject({ action: 'wait' });
  });

  describe('with a retry policy', () => {
    const retry = { limit: 2, backoff: '30s' };
    const failed = (attempts: number, more: ArtifactWorkflowStatus = {}) =>
      made({ ...rendered, ...broken, attempts, completionTime: now.toISOString(), ...more }, { retry });
    const past = (seconds: number) => ({ now: new Date(now.getTime() + seconds * 1000) });

    it('waits for the backoff, writes when it is over, and doubles it', () => {
      const due = '2026-01-02T03:04:35Z';
      expect(decide(failed(1))).toMatchObject({ action: 'wait', status: { nextAttemptTime: due } });
      expect(decide(failed(1, { nextAttemptTime: due }))).not.toHaveProperty('status');
      const second = { nextAttemptTime: '2026-01-02T03:05:05Z' };
      expect(decide(failed(2))).toMatchObject({ action: 'wait', status: second });
      expect(decide(failed(2, second), undefined, past(59))).toMatchObject({ action: 'wait' });
      expect(decide(failed(2, second), undefined, past(60))).toMatchObject({ action: 'create' });
    });

    it('creates the next attempt under a name of its own', () => {
      const workflow = failed(1, { nextAttemptTime: '2026-01-02T03:04:35Z' });
      const name = `${workflow.metadata.name}-2`;
      expect(decide(workflow, undefined, past(30))).toMatchObject({
        action: 'create',
        object: { metadata: { name } },
        status: { workflowRef: { name, attempt: 2 }, attempts: 2, nextAttemptTime: null },
      });
    });

    it('does not skip an attempt that has been recorded but not yet been seen', () => {
      const second = { kind: 'Workflow' as const, name: `${made().metadata.name}-2`, attempt: 2 };
      const workflow = failed(2, { workflowRef: second });
      expect(decide(workflow, undefined, past(3600))).toMatchObject({
        action: 'create',
        status: { attempts: 2 },
      });
    });

    it('gives up at the limit, and at once where another attempt cannot help', () => {
      expect(decide(failed(3), undefined, past(9999))).toEqual({ action: 'none' });
      expect(decide(failed(1, { results: { reason: 'denied' } }), undefined, past(9999))).toEqual({
        action: 'none',
      });
    });
  });

  it('answers a rerun annotation once', () => {
    const noted = (status: ArtifactWorkflowStatus, key: string) => {
      const workflow = made({ ...rendered, ...status });
      return { ...workflow, metadata: { ...workflow.metadata, annotations: { [key]: '1700000000' } } };
    };
    expect(decide(noted(broken, annotations.retryAt))).toMatchObject({
      action: 'create',
      status: { attempts: 2, workflowRef: { attempt: 2, rerunAt: 1_700_000_000 } },
    });
    expect(decide(noted(done, annotations.retryAt))).toEqual({ action: 'none' });
    expect(decide(noted(done, annotations.forceAt))).toMatchObject({ action: 'create' });
    const workflowRef = { ...currentWorkflow(made()), attempt: 2, rerunAt: 1_700_000_000 };
    const answered = { ...broken, workflowRef, attempts: 2, syncedAttempt: 2 };
    expect(decide(noted(answered, annotations.retryAt))).toEqual({ action: 'none' });
    // What was made for it, or had yet to run when it was asked for, answers it with its first attempt.
    expect(decide(noted({}, annotations.retryAt))).toMatchObject({
      action: 'create',
      status: { attempts: 1, workflowRef: { attempt: 1, rerunAt: 1_700_000_000 } },
    });
  });

  describe('when it is being deleted', () => {
    const workflow = made(submitted(made()));
    const running = phase(workflowFor(workflow, 1), { phase: 'Running' });

    it('shuts the Workflow down, then deletes it, then gives up', () => {
      const status = { stopSince: isoSeconds(now.getTime()) };
      expect(decide(deleting(workflow), running)).toMatchObject({ action: 'stop', how: 'shutdown', status });
      const shut = phase(running, { phase: 'Running' }, { shutdown: 'Terminate' });
      expect(decide(stopping(workflow, 1000), shut)).toMatchObject({ action: 'wait' });
      expect(decide(stopping(workflow, stopGraceMs), shut)).toMatchObject({ action: 'stop', how: 'delete' });
      expect(decide(stopping(workflow, 2 * stopGraceMs), shut)).toMatchObject({ action: 'finish' });
    });

    it('goes when its Workflow has ended, is gone or was never there', () => {
      expect(decide(deleting(workflow), phase(running, { phase: 'Failed' }))).toMatchObject({
        action: 'finish',
      });
      expect(decide(deleting(workflow))).toMatchObject({ action: 'finish' });
      expect(decide(deleting(made({})))).toMatchObject({ action: 'finish' });
      const free = { ...workflow, metadata: { ...workflow.metadata, finalizers: ['other'] } };
      expect(decide(deleting(free), running)).toEqual({ action: 'none' });
    });
  });

  describe('on a schedule', () => {
    const cron = { schedules: ['@daily'] };
    const workflow = made({}, { cron });
    const status = submitted({ ...workflow, status: rendered });
    const running = workflowFor(workflow, 1) as CronWorkflow;

    it('suspends, resumes and deletes the CronWorkflow', () => {
      const suspended = made(status, { cron, suspend: true });
      expect(decide(suspended, running)).toMatchObject({
        action: 'release',
        suspend: true,
      });
      const asleep = { ...running, spec: { ...running.spec, suspend: true } };
      expect(decide(suspended, asleep)).toEqual({ action: 'none' });
      const resumed = made(status, { cron });
      expect(decide(resumed, asleep)).toMatchObject({ action: 'release', suspend: false });
      expect(decide(deleting(resumed), running)).toMatchObject({ action: 'stop', how: 'delete' });
    });
  });

  describe('beside other versions of the same artifact', () => {
    const sibling = (status: ArtifactWorkflowStatus, born = -1000): ArtifactWorkflow => {
      const workflow = made(status);
      const creationTimestamp = new Date(now.getTime() + born).toISOString();
      return {
        ...workflow,
        metadata: { ...workflow.metadata, name: 'older', uid: 'older', creationTimestamp },
      };
    };
    const workflowRef = { kind: 'Workflow' as const, name: 'older', attempt: 1 };

    it.each<[string, ArtifactWorkflow, string]>([
      ['runs', sibling({ workflowRef }), 'wait'],
      ['is stopping', deleting(sibling({ workflowRef })), 'wait'],
      ['was there first', sibling({}), 'wait'],
      ['came later', sibling({}, 1000), 'create'],
      ['has ended', sibling({ workflowRef, ...done }), 'create'],
      ['has failed', sibling({ workflowRef, ...broken }), 'create'],
    ])('does the right thing while the other %s', (_, other, action) => {
      expect(decide(made(), undefined, { conflicting: [other] }).action).toBe(action);
    });

    it('says what to do where the other one is suspended before it began', () => {
      const asleep = { ...sibling({}), spec: { ...made().spec, suspend: true } };
      const message =
        'ArtifactWorkflow "older", which writes to the same place, comes first and is suspended: resume its Order, or delete it';
      expect(decide(made(), undefined, { conflicting: [asleep] })).toMatchObject({ action: 'wait', message });
    });

    it.each<[string, ArtifactWorkflowStatus, string]>([
      [
        'its Workflow is refused',
        { workflowRef, waitReason: 'SubmissionFailed', waitMessage: 'cannot create Workflow "older": quota' },
        'cannot create Workflow "older": quota',
      ],
      [
        'its Secret is missing',
        { configReason: 'SecretMissing', configMessage: 'Secret "pull" not found' },
        'Secret "pull" not found',
      ],
    ])('says why the other one, which goes first, cannot start: %s', (_, status, why) => {
      const message = `ArtifactWorkflow "older", which writes to the same place, comes first and cannot start: ${why}`;
      expect(decide(made(), undefined, { conflicting: [sibling(status)] })).toMatchObject({
        action: 'wait',
        status: { waitReason: 'PlaceInUse', waitMessage: message },
      });
    });

    it.each<[string, string, string]>([
      ['https://to.example.com', 'm/x', 'm/x:latest'],
      ['https://to.example.com/m', 'm/x:1', 'x:1'],
      ['https://TO.example.com:443/m/', 'm/x:1', 'x:1'],
    ])('lets one at a time write to a place, however it is written: %s', (remoteURL, image_, same) => {
      const written = (uid: string, to: Endpoint, name: string) => {
        const of = order([{ type: 'oci', spec: { image: name } }]);
        const given = { ...of, metadata: { ...of.metadata, name: uid, uid } };
        const source = endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 1 });
        const [planned] = planOrder(given, inputs({ endpoints: [source, to] })).artifacts;
        if (planned?.state !== 'ready') throw new Error('not ready');
        return planned.workflow;
      };
      const running = stored(written('one', endpoint('to'), image_), { ...rendered, workflowRef }, -1000);
      const other = stored(written('two', endpoint('to', { remoteURL }), same), rendered);
      const selectors = startSelectors({ ...other, spec: { ...other.spec, revision: 1 } });
      expect(selectors).toEqual([`${labels.target}=${running.metadata.labels?.[labels.target]}`]);
      expect(decide(other, undefined, { conflicting: [running] })).toMatchObject({
        action: 'wait',
        status: { waitReason: 'PlaceInUse' },
      });
    });

    it('never lets two of them run at once, in any order of events', () => {
      const step = fc.tuple(fc.nat({ max: 3 }), fc.constantFrom('submit', 'end', 'delete'));
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
          const world = new World();
          for (const [index, what] of steps) world.step(index, what);
          expect(world.most).toBeLessThanOrEqual(1);
        }),
      );
    });
  });
});

/** Four versions of one artifact and their Workflows, as the API would hold them. */
class World {
  most = 0;
  readonly objects: Array<ArtifactWorkflow | undefined>;
  readonly argo = new Map<string, Workflow>();

  constructor() {
    this.objects = [0, 1, 2, 3].map((index) => {
      const workflow = made();
      const creationTimestamp = new Date(now.getTime() + index * 1000).toISOString();
      const name = `version-${index}`;
      return { ...workflow, metadata: { ...workflow.metadata, name, uid: name, creationTimestamp } };
    });
  }

  step(index: number, what: string): void {
    const workflow = this.objects[index];
    if (!workflow) return;
    const name = workflow.metadata.name;
    if (what === 'delete') this.objects[index] = deleting(workflow);
    else if (what === 'end') this.end(index, workflow);
    else
      this.carryOut(
        index,
        workflow,
        decide(workflow, this.argo.get(name), { conflicting: this.others(index) }),
      );
    const running = [...this.argo.values()].filter(({ status }) => status?.phase === 'Running');
    this.most = Math.max(this.most, running.length);
  }

  private others(index: number): ArtifactWorkflow[] {
    return this.objects.flatMap((one, at) => (one && at !== index ? [one] : []));
  }

  private end(index: number, workflow: ArtifactWorkflow): void {
    const running = this.argo.get(workflow.metadata.name);
    if (!running) return;
    this.argo.set(workflow.metadata.name, phase(running, { phase: 'Failed' }));
    this.objects[index] = { ...workflow, status: { ...workflow.status, ...broken } };
  }

  private carryOut(index: number, workflow: ArtifactWorkflow, decision: Submission): void {
    const { name } = workflow.metadata;
    if (decision.action === 'create') {
      const {
        nextAttemptTime: _,
        waitReason: __,
        waitMessage: ___,
        stopSince: ____,
        ...status
      } = decision.status;
      this.objects[index] = { ...workflow, status: { ...workflow.status, ...status } };
      this.argo.set(name, phase(decision.object, { phase: 'Running' }));
    } else if (decision.action === 'stop' && decision.how === 'shutdown') {
      const running = this.argo.get(name);
      if (running) this.argo.set(name, phase(running, { phase: 'Running' }, { shutdown: 'Terminate' }));
    } else if (decision.action === 'finish') {
      this.objects[index] = undefined;
      this.argo.delete(name);
    }
  }
}

describe('the finalizer', () => {
  it('is on planned ArtifactWorkflows from the start', () => {
    expect(made().metadata.finalizers).toEqual([finalizers.workflow]);
  });
});

describe('needsRunning', () => {
  const phases = [undefined, 'Pending', 'Running', 'Succeeded', 'Failed', 'Error', 'Stopped'] as const;
  const argoPhases = [undefined, 'Pending', 'Running', 'Succeeded', 'Failed', 'Error'] as const;
  const states = fc.record({
    configSecret: fc.boolean(),
    submitted: fc.boolean(),
    phase: fc.constantFrom(...phases),
    synced: fc.boolean(),
    held: fc.boolean(),
    deleting: fc.boolean(),
    suspend: fc.boolean(),
    cron: fc.boolean(),
    retry: fc.boolean(),
  });

  function stateOf(chosen: typeof states extends fc.Arbitrary<infer S> ? S : never): ArtifactWorkflow {
    const bare = made(chosen.configSecret ? rendered : {}, {
      ...(chosen.suspend && { suspend: true }),
      ...(chosen.cron && { cron: { schedules: ['0 3 * * *'] } }),
      ...(chosen.retry && { retry: { limit: 2 } }),
    });
    const status: ArtifactWorkflowStatus = {
      ...bare.status,
      ...(chosen.submitted && submitted(bare)),
      ...(chosen.phase && { phase: chosen.phase }),
      ...(chosen.synced && { syncedAttempt: 1 }),
    };
    const metadata = chosen.held ? bare.metadata : { ...bare.metadata, finalizers: [] };
    const workflow = { ...bare, metadata, status };
    return chosen.deleting ? deleting(workflow) : workflow;
  }

  it('agree with the decision: what is not read would have changed nothing', () => {
    fc.assert(
      fc.property(states, fc.constantFrom(...argoPhases), (chosen, argoPhase) => {
        const workflow = stateOf(chosen);
        const own = phase(workflowFor(workflow, 1), argoPhase ? { phase: argoPhase } : {});
        const running = { ...own, metadata: { ...own.metadata, uid: 'uid-argo' } } as Workflow;
        if (!needsRunning(workflow))
          expect(decide(workflow, running).action).toBe(decide(workflow, undefined).action);
      }),
    );
  });

  it('do without the Workflow before there is a configuration and after the end, and look where it counts', () => {
    expect(needsRunning(made({}))).toBe(false);
    expect(needsRunning(made())).toBe(true);
    expect(needsRunning(deleting(made(submitted(made()))))).toBe(true);
    expect(needsRunning(made(submitted(made())))).toBe(true);
  });
});
