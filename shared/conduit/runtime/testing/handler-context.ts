import { createLogger, createMetrics } from '#shared/base/telemetry';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import type { Step } from '#shared/domain';
import type { FakeApi } from '../../../kubernetes/client/testing/fake-api/fake-api.ts';

/** What a handler is given, for unit tests. Time is fixed: 2026-01-02T00:00:00Z unless said otherwise. */
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

/** The event of a step that is due for an object: of a handler's own step, whichever that is, it reads the object alone. */
export function eventOf(
  object: { apiVersion: string; kind: string; metadata: { name: string; namespace?: string; uid?: string } },
  step: Step = firstSteps[object.kind] ?? 'track-credentials',
): StepEvent {
  const { name, namespace = '', uid = '' } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, step, reason: 'test' };
}
