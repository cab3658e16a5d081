import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/async/testing/fake-clock.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { type Workflow, workflows } from '../executor/workflow.ts';
import { startCronController } from './cron-controller.ts';
import { type CronWorkflow, cronWorkflows } from './cron-workflow.ts';

const begin = Date.parse('2026-01-02T00:00:00Z');
const controllers: { control: AbortController; done: Promise<void> }[] = [];
afterEach(stopAll);

async function stopAll(): Promise<void> {
  for (const { control, done } of controllers.splice(0)) {
    control.abort();
    await done;
  }
}

function setUp() {
  const api = new FakeApi();
  api.time = '2026-01-02T00:00:00Z';
  const clock = new FakeClock();
  clock.jump(begin);
  return { api, clock };
}

function start(api: FakeApi, clock: FakeClock): void {
  const control = new AbortController();
  const { signal } = control;
  const log = pino({ level: 'silent' });
  controllers.push({ control, done: startCronController({ api: api.client, signal, log, clock }).done });
}

const hourly = (spec: Partial<CronWorkflow['spec']> = {}): CronWorkflow => ({
  apiVersion: cronWorkflows.apiVersion,
  kind: 'CronWorkflow',
  metadata: { name: 'hourly', namespace: 'team' },
  spec: { schedules: ['0 * * * *'], workflowSpec: { workflowTemplateRef: { name: 'oci' } }, ...spec },
});

const runsOf = (api: FakeApi) => api.all<Workflow>(workflows);
const statusOf = (api: FakeApi) => api.read(cronWorkflows, { namespace: 'team', name: 'hourly' })?.status;

/** The hours pass one by one, and each run that is under way at the end of one succeeds. */
async function pass(api: FakeApi, clock: FakeClock, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    const before = statusOf(api)?.lastScheduledTime;
    clock.advance(3_600_000);
    await expect.poll(() => statusOf(api)?.lastScheduledTime).not.toBe(before);
    const counted = statusOf(api)?.succeeded ?? 0;
    for (const run of runsOf(api).filter(({ status }) => status?.phase === undefined))
      await api.client.mergePatch(workflows, run.metadata, {
        status: { phase: 'Succeeded', finishedAt: new Date(clock.now()).toISOString() },
      });
    await expect.poll(() => statusOf(api)?.succeeded).toBe(counted + 1);
  }
}

describe('the controller of schedules', () => {
  it('starts a Workflow each time, counts how they end, and keeps the history short', async () => {
    const { api, clock } = setUp();
    await api.client.create(cronWorkflows, hourly({ successfulJobsHistoryLimit: 2 }));
    start(api, clock);
    await expect.poll(() => runsOf(api).length).toBe(0);
    await pass(api, clock, 4);
    expect(statusOf(api)).toMatchObject({
      active: [],
      succeeded: 4,
      failed: 0,
      lastScheduledTime: '2026-01-02T04:00:00Z',
    });
    await expect
      .poll(() =>
        runsOf(api)
          .map(({ metadata }) => metadata.name)
          .sort(),
      )
      .toEqual([`hourly-${begin / 1000 + 3 * 3600}`, `hourly-${begin / 1000 + 4 * 3600}`]);
  });

  it('goes on after it was killed: no run twice, none lost that may still start', async () => {
    const { api, clock } = setUp();
    await api.client.create(
      cronWorkflows,
      hourly({ startingDeadlineSeconds: 1800, concurrencyPolicy: 'Forbid' }),
    );
    start(api, clock);
    await pass(api, clock, 1);
    await stopAll();
    clock.jump(3_600_000 + 600_000);
    start(api, clock);
    await expect.poll(() => statusOf(api)?.lastScheduledTime).toBe('2026-01-02T02:00:00Z');
    await stopAll();
    start(api, clock);
    await expect.poll(() => runsOf(api).length).toBe(2);
    expect(
      api.writes.filter(({ verb, resource }) => verb === 'create' && resource === 'workflows').length,
    ).toBe(2);
  });

  it('starts nothing while suspended, and again when that is over', async () => {
    const { api, clock } = setUp();
    const made = await api.client.create(cronWorkflows, hourly({ suspend: true }));
    start(api, clock);
    clock.advance(2 * 3_600_000);
    await api.client.mergePatch(cronWorkflows, made.metadata, { spec: { suspend: null } });
    await expect.poll(() => runsOf(api).length).toBe(0);
    await pass(api, clock, 1);
    expect(runsOf(api).map(({ metadata }) => metadata.name)).toEqual([`hourly-${begin / 1000 + 3 * 3600}`]);
  });
});
