import { createLogger, createMetrics } from '#shared/base/telemetry';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import type { Step } from '#shared/domain';
import type { FakeApi } from '../../../kubernetes/client/testing/fake-api/fake-api.ts';

/** Creates the first argument of a handler, for unit tests. Time is fixed: 2026-01-02T00:00:00Z by default. */
export function contextOf(api: FakeApi, now = new Date('2026-01-02T00:00:00Z')): Context {
  return {
    api: api.client,
    metrics: createMetrics(),
    now,
    log: createLogger({ name: 'test', level: 'silent' }),
    signal: new AbortController().signal,
    env: {},
  };
}

const firstSteps: Readonly<Record<string, Step>> = { Order: 'decompose', ArtifactWorkflow: 'submit' };

/** Creates the event of an object's due step: a handler of one step ignores the step. */
export function eventOf(
  object: { apiVersion: string; kind: string; metadata: { name: string; namespace?: string; uid?: string } },
  step: Step = firstSteps[object.kind] ?? 'track-credentials',
): StepEvent {
  const { name, namespace = '', uid = '' } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, step, reason: 'test' };
}
