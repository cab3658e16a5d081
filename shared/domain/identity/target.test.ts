import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/base/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import { shortHash } from '../values/hash.ts';
import { targetOf } from './target.ts';

const oci = { target: ['specOverride', 'specImage'] };

interface Given {
  type?: Partial<ArtifactType['spec']>;
  source?: string;
  destination?: string;
  url?: string;
  spec?: Record<string, Json>;
  written?: Record<string, Json>;
}

function found(values: Record<string, string>, given: Given = {}) {
  const { source = 'oci', destination = 'oci', url = 'https://to', spec = values, written = spec } = given;
  const type: ArtifactType = {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'ClusterArtifactType',
    metadata: { name: 'oci' },
    spec: { workflowTemplateRef: { name: 't' }, ...(given.type ?? oci) },
  };
  return targetOf({
    type,
    source,
    destination: { type: destination, remoteURL: url },
    parameters: Object.entries(values).map(([name, value]) => ({ name, value })),
    spec,
    written,
  });
}

const target = (values: Record<string, string>, given?: Given) => found(values, given).key;

describe('the target of a transfer', () => {
  it('is the first of the parameters of the type that is set', () => {
    expect(target({ specImage: 'a:1' })).toMatch(/^[0-9a-f]{16}$/);
    expect(target({ specImage: 'a:1', specOverride: 'm:1' })).toBe(
      target({ specImage: 'b:2', specOverride: 'm:1' }),
    );
    expect(target({ specImage: 'a:1', specOverride: '' })).toBe(target({ specImage: 'a:1' }));
    expect(target({ specImage: 'a:1' })).not.toBe(target({ specImage: 'a:2' }));
  });

  it('takes the tag or digest of the next parameter where the first has none', () => {
    const renamed = (image: string) => target({ specImage: image, specOverride: 'm/x' });
    expect(renamed('a:1')).not.toBe(renamed('a:2'));
    expect(renamed('a:1')).toBe(target({ specImage: 'm/x:1' }));
    const digest = `sha256:${'0'.repeat(64)}`;
    expect(renamed(`a@${digest}`)).toBe(target({ specImage: `m/x@${digest}` }));
  });

  it.each<[string, Given, Record<string, string>, Given]>([
    ['a tag that is left out', {}, { specImage: 'a:latest' }, {}],
    ['a prefix of the Endpoint', { url: 'https://to/m' }, { specImage: 'm/a' }, {}],
    ['the usual port', { url: 'https://to:443' }, { specImage: 'a' }, {}],
    ['capital letters of the host', { url: 'https://TO/' }, { specImage: 'a' }, {}],
    ['no scheme', { url: 'to' }, { specImage: 'a' }, {}],
    ['the library of Docker Hub', { url: 'docker.io' }, { specImage: 'a' }, { url: 'docker.io/library' }],
  ])('is one place, however it is written: %s', (_, given, values, other) => {
    expect(target({ specImage: 'a' }, given)).toBe(target(values, other));
  });

  it('is one file, however it is written', () => {
    const s3 = (url: string, path: string) =>
      target({ specPath: path }, { type: { target: ['specPath'] }, source: 'http', destination: 's3', url });
    expect(s3('https://minio/bucket/', 'a/b')).toBe(s3('https://minio//bucket/a', 'b'));
    expect(s3('s3://b/pre', 'a')).toBe(s3('https://s3.eu-central-1.amazonaws.com/b', 'pre/a'));
    expect(s3('https://minio/bucket', 'a')).not.toBe(s3('https://minio/bucket', 'A'));
  });

  it('is elsewhere at another server, and below another prefix', () => {
    const at = (url: string) => target({ specImage: 'a:1' }, { url });
    expect(at('https://registry.example.com')).not.toBe(at('https://registry.example.com/team'));
    expect(at('https://registry.example.com')).not.toBe(at('https://registry.example.com:5000'));
  });

  it('has its address for people, as far as it is known', () => {
    expect(found({ specImage: 'a' }, { url: 'to/m' }).address).toBe('https://to/m/a:latest');
    expect(found({ specImage: 'Not An Image' }).address).toBeUndefined();
  });

  it('is the whole spec where the type names no parameters', () => {
    const whole = (values: Record<string, string>, given: Given = {}) =>
      target(values, { ...given, type: {} });
    expect(whole({ specImage: 'a:1' })).not.toBe(whole({ specImage: 'a:1', specOther: 'b' }));
    const pinned = { spec: { image: 'pinned' } };
    expect(whole({}, { ...pinned, written: { image: 'a' } })).toBe(whole({}, { ...pinned, written: {} }));
  });
});

describe('the target that an earlier release wrote into labels', () => {
  it.each<[Record<string, string>, Given, unknown[]]>([
    [{ specImage: 'team/app:1.0' }, { url: 'https://r.io' }, ['https://r.io', 'team/app:1.0']],
    [
      { specPath: 'dist/a b' },
      { ...{ type: { target: ['specPath'] }, destination: 's3', url: 'https://m:9/' } },
      ['https://m:9', 'dist/a b'],
    ],
    [
      { specName: 'Any Name' },
      { type: { target: ['specName'] }, url: 'https://r.io' },
      ['https://r.io', 'Any Name'],
    ],
    [
      { specChart: 'c' },
      { type: {}, url: 'https://r.io', spec: { chart: 'c' } },
      ['https://r.io', ['oci', { chart: 'c' }]],
    ],
  ])('is the same for %j', (values, given, former) => {
    expect(found(values, given).key).toBe(shortHash(former));
    expect(found(values, given)).not.toHaveProperty('formerKey');
  });

  it.each<[Record<string, string>, Given, unknown[]]>([
    [{ specImage: 'app' }, { url: 'https://r.io' }, ['https://r.io', 'app']],
    [{ specImage: 'app:1' }, { url: 'r.io/team/' }, ['https://r.io/team', 'app:1']],
    [{ specImage: 'a:1', specOverride: 'b' }, { url: 'r.io/x' }, ['https://r.io/x', 'b:1']],
  ])('is told where another one takes its place: %j', (values, given, former) => {
    const { key, formerKey } = found(values, given);
    expect(formerKey).toBe(shortHash(former));
    expect(key).not.toBe(formerKey);
  });
});
