import { describe, expect, it } from 'vitest';
import { anyCharacter, fc } from '#shared/base/testing';
import type { ArtifactWorkflow, Order, OrderStatus } from '#shared/domain';
import { artifactWorkflow, order } from '../../domain/testing/objects.ts';
import { toBinaryRequest } from './binary-request.ts';
import { artifactEvent, dataSchemaOf, domainEventType, orderEvent } from './domain-event.ts';
import { domainEventSchemas } from './domain-event-schemas.ts';

const time = new Date('2026-01-02T03:04:05Z');
const counts = { total: 2, invalid: 0, pending: 0, running: 0, succeeded: 2, failed: 0, cancelled: 0 };
const completed: OrderStatus = {
  phase: 'Succeeded',
  message: '2 of 2 succeeded',
  counts,
  observedGeneration: 3,
  startTime: '2026-01-02T03:00:00Z',
  completionTime: '2026-01-02T03:04:05Z',
};
const one = order('release', ['a:1', 'b:1']);
const failed = artifactWorkflow('release-0123456789abcdef', {
  status: {
    phase: 'Failed',
    message: 'the registry answered 401',
    attempts: 2,
    syncedAttempt: 2,
    workflowRef: { kind: 'Workflow', name: 'release-0123456789abcdef-2', attempt: 2 },
    startTime: '2026-01-02T03:00:00Z',
    completionTime: '2026-01-02T03:04:05Z',
    configSecret: { name: 'release-0123456789abcdef' },
  },
});

describe('a domain event', () => {
  it('of an Order says what Triggers filter by and what became of it', () => {
    const event = orderEvent(
      { ...one, status: completed },
      { name: 'completed', occurrence: '3/then', announced: '', time },
    );
    expect({ ...event }).toEqual({
      specversion: '1.0',
      id: 'uid-release/3/then/completed',
      time: time.toISOString(),
      type: 'cloud.opendefense.arc.order.completed.v1',
      source: '/apis/arc.opendefense.cloud/v1alpha1',
      subject: 'team/release',
      datacontenttype: 'application/json',
      dataschema: 'https://arc.opendefense.cloud/schemas/cloud.opendefense.arc.order.completed.v1.json',
      kind: 'Order',
      apiversion: 'arc.opendefense.cloud/v1alpha1',
      namespace: 'team',
      name: 'release',
      uid: 'uid-release',
      partitionkey: 'uid-release',
      data: {
        namespace: 'team',
        name: 'release',
        uid: 'uid-release',
        generation: 3,
        phase: 'Succeeded',
        message: '2 of 2 succeeded',
        counts,
        startTime: '2026-01-02T03:00:00Z',
        completionTime: '2026-01-02T03:04:05Z',
      },
    });
  });

  it('of an artifact says which Order it is of, and no name of a Secret', () => {
    const event = artifactEvent(failed, { name: 'failed', occurrence: '2', announced: '', time });
    expect(event).toMatchObject({
      id: 'uid-release-0123456789abcdef/2/failed',
      type: 'cloud.opendefense.arc.artifact.failed.v1',
      kind: 'ArtifactWorkflow',
      partitionkey: 'uid-order',
      data: {
        order: { name: 'order', uid: 'uid-order' },
        attempt: 2,
        type: 'oci',
        source: 'source',
        destination: 'destination',
        phase: 'Failed',
        message: 'the registry answered 401',
      },
    });
    expect(Object.keys(event.data ?? {})).not.toContain('configSecret');
  });

  it('of a run of a schedule says which', () => {
    const scheduled: ArtifactWorkflow = {
      ...failed,
      spec: { ...failed.spec, cron: { schedules: ['@daily'] } },
      status: {
        phase: 'Active',
        lastScheduled: '2026-01-02T00:00:00Z',
        // of the runs before
        startTime: '2026-01-01T00:00:00Z',
        results: { digest: 'sha256:before' },
      },
    };
    const { data } = artifactEvent(scheduled, { name: 'started', occurrence: 'then', announced: '', time });
    expect(data).toMatchObject({ phase: 'Active', attempt: 1, scheduledTime: '2026-01-02T00:00:00Z' });
    for (const field of ['digest', 'startTime', 'completionTime']) expect(data).not.toHaveProperty(field);
    expect(domainEventSchemas['artifact.started'].strict().parse(data)).toEqual(data);
  });

  it('has an absolute URI for its schema, and another for another type', () => {
    const names = Object.keys(domainEventSchemas) as (keyof typeof domainEventSchemas)[];
    expect(new Set(names.map(dataSchemaOf)).size).toBe(names.length);
    for (const name of names) expect(new URL(dataSchemaOf(name)).pathname).toContain(domainEventType(name));
  });

  it('fits what intermediaries forward and its schema, whatever is in the status', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      fc.constantFrom('2026-01-01', '+012026-01-01T00:00:00Z', '1600-01-01T00:00:00Z'),
      fc.constantFrom('x', '"', '\n', '€', '😀').map((one) => one.repeat(5_000)),
    );
    fc.assert(
      fc.property(text, text, text, (message, when, named) => {
        const said = { message, startTime: when };
        const order: Order = { ...one, status: { ...completed, ...said } };
        const orderSent = orderEvent(order, { name: 'completed', occurrence: '1', announced: '', time });
        expect(domainEventSchemas['order.completed'].strict().parse(orderSent.data)).toEqual(orderSent.data);
        const spec = { ...failed.spec, type: named, artifact: { name: named }, srcRef: { name: named } };
        const status = { ...failed.status, ...said, results: { digest: named } };
        const artifactTold = artifactEvent(
          { ...failed, spec, status },
          { name: 'failed', occurrence: '1', announced: '', time },
        );
        expect(domainEventSchemas['artifact.failed'].strict().parse(artifactTold.data)).toEqual(
          artifactTold.data,
        );
        for (const event of [orderSent, artifactTold]) {
          const { headers, body } = toBinaryRequest(event);
          expect(Buffer.byteLength(body)).toBeLessThan(4096);
          // Node reads no more than 16 KiB of headers, and brokers add theirs.
          expect(JSON.stringify(headers).length).toBeLessThan(2048);
          // CloudEvents 1.0, section 3.1: names of attributes should not be longer.
          for (const name of Object.keys(headers))
            expect(name.replace('ce-', '').length).toBeLessThanOrEqual(20);
        }
      }),
    );
  });
});
