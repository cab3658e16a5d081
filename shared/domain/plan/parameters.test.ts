import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import { clashOf, clashText, flatten, parametersFor, specFromParameters } from './parameters.ts';

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

describe('the parameters of an ArtifactWorkflow made by hand', () => {
  it('are read back as a spec, as far as a field becomes them', () => {
    const found = specFromParameters([
      { name: 'specImage', value: 'a:1' },
      { name: 'specimage', value: 'b:1' },
      { name: 'spec', value: 'c' },
      { name: 'srcType', value: 'oci' },
    ]);
    expect(found).toEqual({ image: 'a:1' });
  });
});

describe('a clash', () => {
  it.each<[Record<string, Json>, string, string[][]]>([
    [{ override: 'a', Override: 'b' }, 'specOverride', [['Override'], ['override']]],
    [{ override: 'a', '.override': 'b' }, 'specOverride', [['.override'], ['override']]],
    [{ override: 'a', ' override': 'b' }, 'specOverride', [[' override'], ['override']]],
    [{ override: 'a', ' Override': 'b' }, 'specOverride', [[' Override'], ['override']]],
    [{ override: 'a', 'ä-': 1, 'ö-': 2 }, 'spec-', [['ä-'], ['ö-']]],
    [{ override: 'a', '': { override: 'b' } }, 'specOverride', [['', 'override'], ['override']]],
    [
      { scan: { severity: 1 }, scanSeverity: 1 },
      'specScanSeverity',
      [['scan', 'severity'], ['scanSeverity']],
    ],
    [
      { 'scan.severity': 1, scan: { Severity: 2 } },
      'specScanSeverity',
      [['scan', 'Severity'], ['scan.severity']],
    ],
    [{ tags: ['a'], Tags: { '': 'b' } }, 'specTags', [['Tags', ''], ['tags']]],
  ])('is found in %j', (spec, name, paths) => {
    expect(clashOf(spec, undefined)).toEqual({ name, paths });
  });

  it.each<Record<string, Json>>([
    { override: 'a', image: 'b' },
    { override: 'a', Override: {} },
    { scan: { severity: 1, Depth: 2 }, scanner: 3 },
    { list: [{ a: 1, A: 2 }] },
  ])('is none in %j', (spec) => expect(clashOf(spec, undefined)).toBeUndefined());

  it('names both fields, and what to do', () => {
    const clash = clashOf({ 'a b': { c: 1 }, aBC: 2 }, undefined);
    expect(clash && clashText('spec.artifacts[0].spec', clash)).toBe(
      'spec.artifacts[0].spec["a b"].c and spec.artifacts[0].spec.aBC both become the parameter specABC: remove one of them',
    );
  });

  it('is none within an object that the schema leaves to the user', () => {
    const spec = { values: { paths: { '/': 1, '/*': 2 } }, scan: { a: 1, A: 2 } };
    const properties = {
      values: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      scan: { type: 'object', properties: { a: { type: 'integer' } } },
    } as const;
    expect(clashOf(spec, undefined)?.name).toBe('specScanA');
    expect(clashOf({ values: spec.values }, undefined)?.name).toBe('specValuesPaths');
    expect(clashOf({ values: spec.values }, { type: 'object', properties })).toBeUndefined();
    expect(clashOf(spec, { type: 'object', properties })?.name).toBe('specScanA');
  });
});
