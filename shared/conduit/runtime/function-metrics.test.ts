import { describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { createFunctionMetrics } from './function-metrics.ts';

describe('createFunctionMetrics', () => {
  it('uses the names that dashboards for Knative functions know', () => {
    const metrics = createMetrics();
    const measured = createFunctionMetrics(metrics, 'sync-status');
    measured.invoked('workflow', -3);
    measured.failed('Conflict');
    measured.took(0.2);
    measured.started(1.5);
    const text = metrics.expose();
    for (const line of [
      'faas_invocations{faas_name="sync-status",step="workflow"} 1',
      'faas_errors{faas_name="sync-status",code="Conflict"} 1',
      'faas_execution_latency_count{faas_name="sync-status"} 1',
      'faas_cold_start_latency{faas_name="sync-status"} 1.5',
      // A clock that is ahead does not make waits negative.
      'faas_queue_latency_sum{faas_name="sync-status"} 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });
});
