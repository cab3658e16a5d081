import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type ArtifactWorkflow, keyOf } from '#shared/domain';
import { artifactWorkflow, order } from '../../../shared/domain/testing/objects.ts';
import { shownMinutes, throughputOf } from './throughput.ts';

const now = Date.parse('2026-01-01T12:00:30Z');
const time = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();

function moved(from: number, to: number, copied: number): ArtifactWorkflow {
  const status: ArtifactWorkflow['status'] = {
    phase: 'Succeeded',
    startTime: time(from),
    completionTime: time(to),
    results: { outcome: 'succeeded', bytes: { copied, existed: 1_000_000 } },
  };
  return { ...artifactWorkflow('moved'), status };
}

describe('the throughput of the last hour', () => {
  it('spreads the bytes of a transfer over its time, and counts it where it arrived', () => {
    const minutes = throughputOf([], [moved(120, 60, 600)], now);
    expect(minutes).toHaveLength(shownMinutes);
    expect(minutes.slice(-4).map(({ bytes, arrived }) => [bytes, arrived])).toEqual([
      [0, 0],
      [300, 0],
      [300, 1],
      [0, 0],
    ]);
    expect(new Date(minutes.at(-1)?.atMs ?? 0).toISOString()).toBe('2026-01-01T12:00:00.000Z');
  });

  it('has what a running one has moved so far, and nothing of one that failed', () => {
    const running = { phase: 'Running', startTime: time(20), progress: '50/100' } as const;
    const failed = { phase: 'Failed', startTime: time(20), completionTime: time(10) } as const;
    const children = [running, failed].map((status) => ({ ...artifactWorkflow('one'), status }));
    expect(throughputOf([], children, now).at(-1)).toMatchObject({ bytes: 50, arrived: 0 });
  });

  it('loses nothing of what lies within the hour, whatever the clocks say', () => {
    const hour = fc.integer({ min: -600, max: 3500 });
    fc.assert(
      fc.property(fc.array(fc.tuple(hour, hour, fc.nat(10_000))), (all) => {
        const minutes = throughputOf(
          [],
          all.map(([from, to, bytes]) => moved(from, to, bytes)),
          now,
        );
        const sum = (field: 'bytes' | 'arrived') => minutes.reduce((total, each) => total + each[field], 0);
        expect(sum('arrived')).toBe(all.length);
        const bytes = all.reduce((total, [, , each]) => total + each, 0);
        expect(Math.abs(sum('bytes') - bytes)).toBeLessThanOrEqual(shownMinutes);
      }),
    );
  });

  it('counts what its Order still shows of an ArtifactWorkflow that its TTL deleted, and no transfer twice', () => {
    const child = moved(60, 30, 500);
    const entry = { artifactIndex: 0, phase: 'Succeeded', completionTime: time(30), bytesCopied: 500 };
    const owner = { ...order('order', ['a:1']), status: { artifactWorkflows: { [keyOf(child)]: entry } } };
    for (const children of [[child], []]) {
      const minutes = throughputOf([owner], children, now);
      expect(minutes.reduce((total, { arrived }) => total + arrived, 0)).toBe(1);
      expect(minutes.reduce((total, { bytes }) => total + bytes, 0)).toBe(500);
    }
  });

  it('leaves out what was before', () => {
    const minutes = throughputOf([], [moved(9000, 8000, 100), moved(7200, 0, 7200)], now);
    expect(minutes[1]).toMatchObject({ bytes: 60, arrived: 0 });
    expect(minutes.reduce((total, { arrived }) => total + arrived, 0)).toBe(1);
  });
});
