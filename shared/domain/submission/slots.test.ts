import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import type { HoldReason } from '../lifecycle/holds.ts';
import { artifactWorkflow, endpoint } from '../testing/objects.ts';
import {
  endpointTurn,
  limitingEndpoints,
  nextInLine,
  nextOfOrder,
  orderTurn,
  slotsWithout,
} from './slots.ts';

const now = new Date('2026-01-02T00:00:00Z');

/** One that waits for its start, of this Order and age. */
function one(
  name: string,
  order: string,
  second = 0,
  more: Partial<ArtifactWorkflow> = {},
): ArtifactWorkflow {
  const plain = artifactWorkflow(name);
  return {
    ...plain,
    metadata: {
      ...plain.metadata,
      labels: { ...plain.metadata.labels, [labels.order]: order },
      creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
    },
    ...more,
    spec: { ...plain.spec, limitedBy: ['to', 'from'], ...more.spec },
  };
}

const running = (workflow: ArtifactWorkflow): ArtifactWorkflow => ({
  ...workflow,
  status: { ...workflow.status, phase: 'Running', workflowRef: { kind: 'Workflow', name: 'w', attempt: 1 } },
});
const limited = (maxInFlight: number, inFlight: string[] = []) =>
  endpoint('to', { maxInFlight }, { inFlight });

describe('endpointTurn', () => {
  it('takes a slot where there is room, and drops the slots of what has ended', () => {
    const users = [one('a', 'x'), running(one('b', 'x'))];
    expect(endpointTurn(users[0] as ArtifactWorkflow, limited(2, ['b', 'gone']), users, now)).toEqual({
      starts: true,
      inFlight: ['a', 'b'],
    });
  });

  it('makes it wait where there is none, and counts who goes first', () => {
    const users = [running(one('a', 'x')), one('b', 'x', 1), one('c', 'x', 2), one('d', 'x', 3)];
    expect(endpointTurn(users[3] as ArtifactWorkflow, limited(1, ['a']), users, now)).toEqual({
      starts: false,
      ahead: 2,
      running: 1,
    });
  });

  it('lets one that has taken its slot go on after a crash', () => {
    const users = [one('a', 'x'), one('b', 'x', 1)];
    expect(endpointTurn(users[1] as ArtifactWorkflow, limited(1, ['b']), users, now)).toEqual({
      starts: true,
    });
    expect(endpointTurn(users[0] as ArtifactWorkflow, limited(1, ['b']), users, now)).toMatchObject({
      starts: false,
    });
  });

  it('counts what runs though nobody recorded it: the limit came later', () => {
    const users = [running(one('a', 'x')), one('b', 'x')];
    expect(endpointTurn(users[1] as ArtifactWorkflow, limited(1), users, now)).toMatchObject({
      starts: false,
    });
  });

  it('lets Orders take turns, whatever their size', () => {
    const users = [
      ...Array.from({ length: 9 }, (_, at) => one(`big-${at}`, 'big', at)),
      one('small-0', 'small', 20),
      one('small-1', 'small', 21),
    ];
    const started: string[] = [];
    const inFlight: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const [next] = nextInLine(limited(turn + 1, inFlight), users);
      if (!next) throw new Error('nobody is in line');
      started.push(next.metadata.name);
      inFlight.push(next.metadata.name);
    }
    expect(started).toEqual(['big-0', 'small-0', 'big-1', 'small-1', 'big-2']);
  });

  it('passes over those of an Order that runs as many as its parallelism says', () => {
    const narrow = (name: string, second: number) =>
      one(name, 'narrow', second, { spec: { ...one(name, 'narrow').spec, parallelism: 1 } });
    const users = [
      running(narrow('n-0', 0)),
      ...Array.from({ length: 9 }, (_, at) => narrow(`n-${at + 1}`, at + 1)),
      ...Array.from({ length: 9 }, (_, at) => one(`wide-${at}`, 'wide', at + 20)),
    ];
    let to = limited(6, ['n-0']);
    for (let at = 0; at < 5; at++) {
      const user = users[10 + at] as ArtifactWorkflow;
      const turn = endpointTurn(user, to, users, now);
      expect(turn).toMatchObject({ starts: true });
      to = limited(6, 'inFlight' in turn ? turn.inFlight : []);
      users[10 + at] = running(user);
    }
    expect(nextInLine(limited(9, to.status?.inFlight), users).map(({ metadata }) => metadata.name)).toEqual([
      'wide-5',
      'wide-6',
      'wide-7',
    ]);
    users.shift();
    expect(nextInLine(limited(9, to.status?.inFlight), users)[0]?.metadata.name).toBe('n-1');
  });

  it('passes over what is suspended, cancelled, not rendered, backing off, or waits for a place', () => {
    const idle = [
      one('suspended', 'x', 0, { spec: { ...one('s', 'x').spec, suspend: true } }),
      one('cancelled', 'x', 0, { spec: { ...one('s', 'x').spec, cancel: true } }),
      one('bare', 'x', 0, { status: {} }),
      one('blocked', 'x', 0, { status: { configSecret: { name: 's' }, waitReason: 'PlaceInUse' } }),
    ];
    const last = one('last', 'x', 9);
    expect(endpointTurn(last, limited(1), [...idle, last], now)).toMatchObject({ starts: true });
  });

  it('has one in line that is to run at once: retried, forced, or no longer cancelled', () => {
    const ended = { ...running(one('a', 'x')).status, attempts: 3, completionTime: now.toISOString() };
    const retried = one('a', 'x', 0, { status: { ...ended, phase: 'Failed' } });
    retried.metadata.annotations = { [annotations.retryAt]: '1767225600' };
    const free = one('a', 'x', 0, { status: { ...ended, phase: 'Cancelled' } });
    for (const first of [retried, free]) {
      const users = [first, one('b', 'x', 1), one('c', 'x', 2)];
      expect(endpointTurn(first, limited(1), users, now)).toMatchObject({ starts: true });
      expect(nextInLine(limited(1), users)[0]?.metadata.name).toBe('a');
      expect(orderTurn({ ...first, spec: { ...first.spec, parallelism: 1 } }, users, now).starts).toBe(true);
    }
  });

  it('never lets more start than there are slots, whoever decides first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ order: fc.nat(3), runs: fc.boolean() }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.nat(30), { maxLength: 40 }),
        (given, maxInFlight, picks) => {
          const users = given.map(({ order, runs }, at) => {
            const made = one(`w${at}`, `o${order}`, at);
            return runs && at < maxInFlight ? running(made) : made;
          });
          let to = limited(maxInFlight);
          const before = users.filter((user) => user.status?.workflowRef).length;
          let started = before;
          for (const pick of picks) {
            const at = pick % Math.max(1, users.length);
            const user = users[at];
            if (user === undefined || user.status?.workflowRef) continue;
            const turn = endpointTurn(user, to, users, now);
            if (!turn.starts) continue;
            if (turn.inFlight) to = limited(maxInFlight, turn.inFlight);
            users[at] = running(user);
            started += 1;
          }
          expect(started).toBeLessThanOrEqual(Math.max(maxInFlight, before));
        },
      ),
      { seed: 12, numRuns: 200 },
    );
  });
});

describe('one whose Workflow is refused', () => {
  const spec = { parallelism: 1 };
  const refused = (waitReason: HoldReason) => {
    const tried = one('a', 'x', 0, { spec: { ...one('a', 'x').spec, ...spec } });
    const workflowRef = { kind: 'Workflow', name: 'w', attempt: 1 } as const;
    return { ...tried, status: { ...tried.status, workflowRef, waitReason } };
  };
  const second = one('b', 'x', 1, { spec: { ...one('b', 'x').spec, ...spec } });
  const names = (found: readonly ArtifactWorkflow[]) => found.map(({ metadata }) => metadata.name);

  it.each(['SubmissionFailed', 'NameTaken', 'NamespaceNotGiven', 'ArgoMissing'] as const)(
    'has no place, and none in line: %s',
    (reason) => {
      const users = [refused(reason), second];
      expect(endpointTurn(second, limited(1), users, now)).toMatchObject({ starts: true });
      expect(orderTurn(second, users, now)).toEqual({ starts: true });
      expect(names(nextInLine(limited(2), users))).toEqual(['b']);
      expect(names(nextOfOrder(users))).toEqual(['b']);
    },
  );

  it('is tried again after those in line, and holds its slot meanwhile', () => {
    const first = refused('SubmissionFailed');
    const waits = { starts: false, ahead: 1, running: 0 };
    expect(endpointTurn(first, limited(1), [first, second], now)).toEqual(waits);
    expect(orderTurn(first, [first, second], now)).toEqual(waits);
    expect(orderTurn(first, [first], now)).toEqual({ starts: true });
    expect(endpointTurn(first, limited(1), [first], now)).toEqual({ starts: true, inFlight: ['a'] });
    expect(endpointTurn(second, limited(1, ['a']), [first, second], now)).toMatchObject({ starts: false });
  });

  it('lets an older one that was refused go first when all are tried at once', () => {
    const first = refused('SubmissionFailed');
    const other = { ...second, status: { ...first.status } };
    expect(orderTurn(first, [first, other], now)).toEqual({ starts: true });
    expect(orderTurn(other, [first, other], now)).toEqual({ starts: false, ahead: 1, running: 0 });
    expect(endpointTurn(other, limited(1, ['a']), [first, other], now)).toMatchObject({ starts: false });
  });

  it('is in line, and does not count as running, once it has been told to wait for its turn', () => {
    const users = [refused('LimitReached'), second];
    expect(names(nextInLine(limited(1), users))).toEqual(['a']);
    expect(names(nextOfOrder(users))).toEqual(['a']);
    expect(orderTurn(second, users, now)).toEqual({ starts: false, ahead: 1, running: 0 });
    expect(orderTurn(users[0] as ArtifactWorkflow, users, now)).toEqual({ starts: true });
  });

  it('is also one that failed because its account is missing: it holds up nobody until it is there', () => {
    const ended = {
      phase: 'Error',
      completionTime: '2026-01-01T00:00:00Z',
      attempts: 1,
      syncedAttempt: 1,
    } as const;
    const message = 'pods "w" is forbidden: serviceaccount "signer" not found';
    const { waitReason: _, ...status } = refused('SubmissionFailed').status;
    const first = { ...second, metadata: one('a', 'x').metadata, status: { ...status, ...ended, message } };
    const users = [first, second];
    expect(endpointTurn(second, limited(1), users, now)).toEqual({ starts: true, inFlight: ['b'] });
    expect(orderTurn(second, users, now)).toEqual({ starts: true });
    expect(names(nextInLine(limited(2), users))).toEqual(['b']);
    expect(endpointTurn(first, limited(1), [first], now)).toMatchObject({ starts: true });
    expect(orderTurn(first, [first], now)).toEqual({ starts: true });
  });

  it('keeps its place while it runs though the rights to see it were withdrawn', () => {
    const first = refused('NamespaceNotGiven');
    const users = [running(first), second];
    expect(endpointTurn(second, limited(1), users, now)).toMatchObject({ starts: false });
    expect(orderTurn(second, users, now)).toMatchObject({ starts: false });
  });
});

describe('slots', () => {
  it('are taken in one order, and not by schedules', () => {
    expect(limitingEndpoints(one('a', 'x'))).toEqual(['from', 'to']);
    const cron = one('a', 'x', 0, { spec: { ...one('a', 'x').spec, cron: { schedules: ['@daily'] } } });
    expect(limitingEndpoints(cron)).toEqual([]);
  });

  it('are given back once', () => {
    expect(slotsWithout(limited(2, ['a', 'b']), one('a', 'x'))).toEqual(['b']);
    expect(slotsWithout(limited(2, ['b']), one('a', 'x'))).toBeUndefined();
  });
});

describe('orderTurn', () => {
  const few = (name: string, second: number) =>
    one(name, 'x', second, { spec: { ...one(name, 'x').spec, parallelism: 2 } });

  it('lets the oldest of an Order go first, so many at a time', () => {
    const all = [running(few('a', 0)), few('b', 1), few('c', 2)];
    expect(orderTurn(all[1] as ArtifactWorkflow, all, now)).toEqual({ starts: true });
    expect(orderTurn(all[2] as ArtifactWorkflow, all, now)).toEqual({ starts: false, ahead: 1, running: 1 });
    expect(orderTurn(all[0] as ArtifactWorkflow, all, now)).toEqual({ starts: true });
    expect(nextOfOrder(all).map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it('has no say without a limit', () => {
    expect(orderTurn(one('a', 'x'), [running(one('b', 'x'))], now)).toEqual({ starts: true });
  });
});
