import { describe, expect, it } from 'vitest';
import { converted, type Foreign } from './convert.ts';

const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

function foreign(kind: string, spec: Record<string, unknown>, over: Partial<Foreign> = {}): Foreign {
  const metadata = { name: 'one', namespace: 'team', uid: 'u', resourceVersion: '5', labels: { team: 'a' } };
  return { apiVersion, kind, spec, ...over, metadata: { ...metadata, ...over.metadata } };
}

describe('an object of the Go ARC, here', () => {
  it('has what a person wrote, and nothing of the server', () => {
    const annotations = { ...applied, team: 'a' };
    expect(
      converted(foreign('Order', {}, { metadata: { name: 'one', annotations }, status: { message: 'x' } })),
    ).toEqual({
      apiVersion,
      kind: 'Order',
      metadata: { name: 'one', namespace: 'team', labels: { team: 'a' }, annotations: { team: 'a' } },
      spec: { defaults: {}, artifacts: [] },
    });
  });

  it('keeps references that are set, schedules without a policy, and times to live that are not 0', () => {
    const cron = { schedules: ['@daily'], timezone: 'UTC', concurrencyPolicy: 'Replace' };
    const artifact = {
      type: 'oci',
      srcRef: { name: '' },
      dstRef: { name: 'b' },
      spec: { image: 'a:1' },
      cron,
    };
    const spec = {
      defaults: { srcRef: { name: 'a' }, dstRef: {}, cron: null },
      artifacts: [artifact],
      ttl: '0s',
    };
    expect(converted(foreign('Order', spec)).spec).toEqual({
      defaults: { srcRef: { name: 'a' } },
      artifacts: [
        {
          type: 'oci',
          dstRef: { name: 'b' },
          spec: { image: 'a:1' },
          cron: { schedules: ['@daily'], timezone: 'UTC' },
        },
      ],
    });
    expect(converted(foreign('Order', { ttl: '24h0m0s' })).spec).toMatchObject({ ttl: '24h0m0s' });
  });

  it('has the names and the meaning of this ARC in types and Endpoints', () => {
    const type = {
      rules: { srcTypes: ['oci'], dstType: ['s3'] },
      ttlAfterFinished: '0s',
      ttlAfterFailed: '1h0m0s',
    };
    expect(converted(foreign('ClusterArtifactType', type)).spec).toEqual({
      rules: { srcTypes: ['oci'], dstTypes: ['s3'] },
      ttlAfterFailed: '1h0m0s',
    });
    const endpoint = { type: 'oci', remoteURL: 'https://a', secretRef: { name: '' } };
    expect(converted(foreign('Endpoint', endpoint)).spec).toEqual({
      type: 'oci',
      remoteURL: 'https://a',
      usage: 'All',
    });
  });

  it.each([
    ['1767323045', '2026-01-02T03:04:05Z', undefined],
    ['1767323046', '2026-01-02T03:04:05Z', '1767323046'],
    ['1767323045', undefined, '1767323045'],
  ])('with force-at %s, last answered %s, asks for %s', (forceAt, lastForceAt, expected) => {
    const name = 'arc.opendefense.cloud/force-at';
    const metadata = { name: 'one', annotations: { [name]: forceAt } };
    const status = lastForceAt === undefined ? {} : { lastForceAt };
    expect(converted(foreign('Order', {}, { metadata, status })).metadata.annotations?.[name]).toBe(expected);
  });
});
