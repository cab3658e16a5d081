import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { Workflow } from '../kinds/argo.ts';
import { resultsOf } from './results.ts';

function reporting(value: string): Workflow {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'w' },
    spec: {},
    status: { outputs: { parameters: [{ name: 'result', value }] } },
  };
}

describe('resultsOf', () => {
  const attempt = (result: object, finishedAt: string) => ({
    type: 'Pod',
    finishedAt,
    outputs: { parameters: [{ name: 'result', value: JSON.stringify(result) }] },
  });
  const of = (nodes: unknown): Workflow => ({
    ...reporting(''),
    status: { nodes } as NonNullable<Workflow['status']>,
  });

  it('takes the word of the pod that ended last, whatever the order of the nodes', () => {
    const failed = attempt({ outcome: 'failed', reason: 'retryable' }, '2026-01-01T00:00:01Z');
    const arrived = attempt({ outcome: 'succeeded', digest: 'sha256:aa' }, '2026-01-01T00:00:02Z');
    const expected = { outcome: 'succeeded', digest: 'sha256:aa' };
    expect(resultsOf(of({ 'w-1': failed, 'w-2': arrived }))).toEqual(expected);
    expect(resultsOf(of({ 'w-2': arrived, 'w-1': failed }))).toEqual(expected);
  });

  it('finds none where there are no nodes', () => {
    expect(resultsOf(of(null))).toBeUndefined();
    expect(resultsOf(of({ w: { outputs: null } }))).toBeUndefined();
  });

  it('reads the worker’s JSON, known fields only', () => {
    const line = {
      outcome: 'succeeded',
      digest: 'sha256:aa',
      bytes: { copied: 5, existed: 0, extra: 1 },
      referrers: 1,
      repaired: { manifests: 1, blobs: 2 },
      warnings: ['slow', 3],
      password: 'x',
    };
    expect(resultsOf(reporting(JSON.stringify(line)))).toEqual({
      outcome: 'succeeded',
      digest: 'sha256:aa',
      bytes: { copied: 5, existed: 0 },
      referrers: 1,
      repaired: { manifests: 1, blobs: 2 },
      warnings: ['slow'],
    });
  });

  it('reads which policies were applied, in bounds', () => {
    const policy = { from: 'Endpoint "to"', digest: 'sha256:aa' };
    const read = (policies: unknown) => resultsOf(reporting(JSON.stringify({ policies })))?.policies;
    expect(read([{ ...policy, extra: 1 }, { from: 'nobody' }, 5])).toEqual([policy]);
    expect(read(Array(30).fill(policy))).toHaveLength(20);
    expect([read([]), read('all')]).toEqual([undefined, undefined]);
  });

  it('reads by which SBOMs policies were fulfilled, in bounds', () => {
    const sbom = { subject: 'sha256:aa', type: 'text/spdx', digest: 'sha256:bb' };
    const read = (sboms: unknown) => resultsOf(reporting(JSON.stringify({ sboms })))?.sboms;
    const report = { subject: 'sha256:aa', type: 'report' };
    expect(read([{ ...sbom, extra: 1 }, report, { subject: 'sha256:aa' }, 5])).toEqual([sbom, report]);
    expect(read(Array(30).fill(sbom))).toHaveLength(20);
    expect([read([]), read('all')]).toEqual([undefined, undefined]);
  });

  it('reads the items of an artifact that stands for several, in bounds', () => {
    const item = {
      source: 'a:1',
      target: 'm/a:1',
      outcome: 'failed',
      reason: 'denied',
      message: 'x'.repeat(999),
      extra: 1,
    };
    const list = [...Array.from({ length: 30 }, () => item), { source: 'no outcome' }];
    const found = resultsOf(
      reporting(JSON.stringify({ items: { total: 31, copied: -1, failed: 31, list } })),
    )?.items;
    expect(found).toMatchObject({ total: 31, copied: 0, unchanged: 0, failed: 31 });
    expect(found?.list).toHaveLength(20);
    expect(found?.list[0]).toEqual({
      ...item,
      extra: undefined,
      message: expect.stringMatching(/^x{1,300}/),
    });
    expect(JSON.stringify(found).length).toBeLessThan(20 * 1000);
    expect(resultsOf(reporting('{"items":[1]}'))).toEqual({});
  });

  it('finds it on a node where the Workflow has none', () => {
    const workflow = reporting('');
    const nodes = {
      n: { outputs: { parameters: [{ name: 'x', globalName: 'result', value: '{"digest":"d"}' }] } },
    };
    expect(resultsOf({ ...workflow, status: { ...workflow.status, nodes } })).toEqual({ digest: 'd' });
  });

  it('is small and never throws, whatever a template puts there', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const found = resultsOf(reporting(text));
        expect(JSON.stringify(found ?? {}).length).toBeLessThan(12_000);
      }),
    );
    expect(
      resultsOf(reporting(JSON.stringify({ message: 'x'.repeat(50_000) })))?.message?.length,
    ).toBeLessThan(2_100);
  });
});
