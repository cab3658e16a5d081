import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/meta';
import { fc } from '#shared/testing';
import { effectiveSpec, flatten, parametersFor, specFromParameters } from './parameters.ts';

const sides = {
  source: { type: 'oci', remoteURL: 'https://from', secret: true },
  destination: { type: 'oci', remoteURL: 'https://to', secret: false },
  cron: false,
};

describe('flatten', () => {
  it.each<[Record<string, Json>, Record<string, string>]>([
    [{ image: 'a:1' }, { specImage: 'a:1' }],
    [{ config: { port: 80 } }, { specConfigPort: '80' }],
    [{ level1: { level2: { value: true } } }, { specLevel1Level2Value: 'true' }],
    [{ tags: ['a', { b: 1 }] }, { specTags: '["a",{"b":1}]' }],
    [{ none: [] }, { specNone: '[]' }],
    [{ nothing: null }, { specNothing: '' }],
    [{ empty: {} }, {}],
    [{ size: 123_000_000_000 }, { specSize: '123000000000' }],
    [{ ratio: 0.000_000_15 }, { specRatio: '0.00000015' }],
    [{ huge: 1e21 }, { specHuge: '1000000000000000000000' }],
    [{ 'a.b c': 'x' }, { specABC: 'x' }],
    [{ '': 'x' }, { spec: 'x' }],
  ])('of %j', (spec, expected) => {
    expect(Object.fromEntries(flatten(spec).map(({ name, value }) => [name, value]))).toEqual(expected);
  });
});

describe('parametersFor', () => {
  it('names the endpoints, the spec and the type in this order', () => {
    const spec = { image: 'a:1' };
    const typeParameters = [{ name: 'scanSeverity', value: 'HIGH' }];
    expect(parametersFor({ ...sides, spec, typeParameters }).map(({ name }) => name)).toEqual([
      'srcType',
      'srcRemoteURL',
      'srcSecret',
      'dstType',
      'dstRemoteURL',
      'dstSecret',
      'cron',
      'specImage',
      'scanSeverity',
    ]);
  });

  it('lets the type win over the artifact', () => {
    const typeParameters = [{ name: 'specImage', value: 'approved:1' }];
    const found = parametersFor({ ...sides, spec: { image: 'mine:1' }, typeParameters });
    expect(found.filter(({ name }) => name === 'specImage')).toEqual(typeParameters);
  });

  it('has every name once, in letters that Argo takes, whatever the spec', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (spec) => {
        const found = parametersFor({ ...sides, spec: spec as Record<string, Json>, typeParameters: [] });
        const names = found.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        for (const { name, value } of found) {
          expect(name).toMatch(/^[-a-zA-Z0-9_]+$/);
          expect(typeof value).toBe('string');
        }
      }),
    );
  });
});

describe('effectiveSpec', () => {
  it('applies the parameters of the type where a template would see them', () => {
    const spec = { image: 'a:1', scan: { severity: 'LOW', depth: 1 }, tags: ['x'] };
    const typeParameters = [
      { name: 'specScanSeverity', value: 'HIGH' },
      { name: 'specScanDepth', value: '3' },
      { name: 'specTags', value: '["y"]' },
      { name: 'specSigned', value: 'true' },
      { name: 'other', value: 'x' },
    ];
    expect(effectiveSpec(spec, typeParameters)).toEqual({
      image: 'a:1',
      scan: { severity: 'HIGH', depth: 3 },
      tags: ['y'],
      signed: 'true',
    });
    expect(spec.scan.severity).toBe('LOW');
  });

  it('reads a spec back from the parameters of an ArtifactWorkflow made by hand', () => {
    const found = specFromParameters([
      { name: 'specImage', value: 'a:1' },
      { name: 'srcType', value: 'oci' },
    ]);
    expect(found).toEqual({ image: 'a:1' });
  });
});
