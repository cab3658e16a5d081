import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { BatchError, type BatchResult, copyBatch } from '#shared/transfer';
import { chartYaml, packChart, seedChart } from '../../../shared/transfer/testing/charts.ts';
import { withPolicy } from '../job/policy.ts';
import { batchOf } from './batch-of.ts';
import { imageLocation, isChartBatch } from './chart-images.ts';
import { isTagBatch } from './tags.ts';

let source: Registry;
let destination: Registry;
beforeEach(async () => {
  source = await startRegistry();
  destination = await startRegistry();
});
afterEach(() => Promise.all([source.close(), destination.close()]));

function job(spec: Record<string, unknown>, type = 'oci'): Job {
  return {
    artifact: { type, spec },
    source: { name: 'src', type: 'oci', remoteURL: source.url },
    destination: { name: 'dst', type: 'oci', remoteURL: `${destination.url}/mirror` },
  };
}

const steps: [number, number][] = [];

function expanding(of: Job) {
  const expand = batchOf(of);
  if (!expand) throw new Error('it is one artifact');
  return expand;
}

async function run(spec: Record<string, unknown>): Promise<BatchResult> {
  steps.length = 0;
  const options = {
    signal: new AbortController().signal,
    workDir: os.tmpdir(),
    retry: { attempts: 1 },
    progress: (done: number, total: number) => void steps.push([done, total]),
  };
  return copyBatch(options, expanding(job(spec)));
}

async function failed(running: Promise<unknown>): Promise<BatchError> {
  const caught: unknown = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (caught instanceof BatchError) return caught;
  throw new Error('it did not fail with a BatchError', { cause: caught });
}

const tagsAt = (repository: string) =>
  [...(destination.contents.get(repository)?.tags.keys() ?? [])].toSorted();
const uploads = () =>
  destination.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/blobs/')).length;

describe('tags of a repository', () => {
  async function seed(...tags: string[]): Promise<void> {
    for (const tag of tags) await seedImage(source, 'team/app', tag, { layerBytes: 1000, signature: false });
  }

  it('are moved under their own names, each with a result', async () => {
    await seed('1.0.0', '1.1.0', '2.0.0', 'latest');
    const result = await run({ image: 'team/app', tags: { semver: '^1' } });
    expect(tagsAt('mirror/team/app')).toEqual(['1.0.0', '1.1.0']);
    expect(result.items).toMatchObject({ total: 2, copied: 2, unchanged: 0, failed: 0 });
    expect(result.items.list[0]).toMatchObject({
      source: 'team/app:1.1.0',
      target: 'team/app:1.1.0',
      outcome: 'copied',
    });
    expect(result.digest).toBeUndefined();
    const { copied } = result.bytes;
    expect(steps[0]?.[0]).toBe(0);
    expect(steps.at(-1)?.[0]).toBeGreaterThan(copied);
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
    expect(steps.every(([done], index) => done >= (steps[index - 1]?.[0] ?? 0))).toBe(true);
  });

  it('need no request per tag for signatures and SBOMs that the list of tags rules out', async () => {
    await seed('1.0.0', '1.1.0');
    await seedImage(source, 'team/app', '1.2.0');
    const { referrers } = await run({ image: 'team/app', tags: { match: '*' } });
    expect(referrers).toBe(1);
    expect(source.requests.filter(({ path }) => path.includes('/manifests/sha256-'))).toEqual([]);
  });

  it('send no blob if they exist, and only the new blobs of a new one', async () => {
    await seed('1.0.0', '1.1.0');
    const spec = { image: 'team/app', override: 'copies/app', tags: { newest: 2 } };
    await run(spec);
    const before = uploads();
    expect((await run(spec)).items).toMatchObject({ copied: 0, unchanged: 2 });
    expect(uploads()).toBe(before);
    expect(steps.at(-1)).toEqual([0, 0]);
    await seed('1.2.0');
    expect((await run(spec)).items).toMatchObject({ total: 2, copied: 1, unchanged: 1 });
    expect(tagsAt('mirror/copies/app')).toEqual(['1.0.0', '1.1.0', '1.2.0']);
  });

  it('share their blobs: a common blob is sent once', async () => {
    await seed('1.0.0');
    const contents = source.contents.get('team/app');
    const digest = contents?.tags.get('1.0.0') ?? '';
    for (const tag of ['1.0.1', '1.0.2', '1.0.3']) contents?.tags.set(tag, digest);
    const result = await run({ image: 'team/app', tags: { match: '1.*' } });
    expect(result.items).toMatchObject({ total: 4, copied: 4 });
    const sent = destination.requests
      .filter(({ method, path }) => method === 'PUT' && path.includes('/blobs/'))
      .map(({ path }) => /digest=([^&]+)/.exec(path)?.[1]);
    expect(sent.length).toBe(new Set(sent).size);
  });

  it('do not stop each other: a failure is reported, and the rest is copied', async () => {
    await seed('1.0.0', '1.1.0', '1.2.0');
    source.faults.add({ path: /manifests\/1\.1\.0/, fault: { kind: 'status', status: 403 } });
    const { items, reason, message } = await failed(run({ image: 'team/app', tags: { match: '*' } }));
    expect(items).toMatchObject({ total: 3, copied: 2, failed: 1 });
    expect(items.list[0]).toMatchObject({ source: 'team/app:1.1.0', outcome: 'failed', reason: 'denied' });
    expect(reason).toBe('denied');
    expect(message).toMatch(/^1 of 3 artifacts were not moved\. team\/app:1\.1\.0: Registry .* answered 403/);
    expect(tagsAt('mirror/team/app')).toEqual(['1.0.0', '1.2.0']);
  });

  it('are each evaluated by the policy', async () => {
    await seed('1.0.0', '1.1.0');
    const tags = job({ image: 'team/app', tags: { match: '*' } });
    const policy = JSON.stringify({ repositories: { denied: ['*/team/app'] } });
    const options = { signal: new AbortController().signal, workDir: os.tmpdir() };
    const moving = copyBatch(withPolicy({ ...tags, policy }, options), expanding(tags));
    const { items, reason } = await failed(moving);
    expect({ failed: items.failed, reason }).toEqual({ failed: 2, reason: 'denied-by-policy' });
    expect(items.list[0]?.message).toContain('rule repositories.denied');
    expect(tagsAt('mirror/team/app')).toEqual([]);
  });

  it('are retried if one of several failures is retryable', async () => {
    await seed('1.0.0', '1.1.0');
    source.faults.add({ path: /manifests\/1\.0\.0/, fault: { kind: 'status', status: 403 } });
    source.faults.add({ path: /manifests\/1\.1\.0/, fault: { kind: 'status', status: 503 } });
    expect((await failed(run({ image: 'team/app', tags: { match: '*' } }))).reason).toBe('retryable');
  });

  it('can be selected by age, if images have a creation time', async () => {
    await seed('1.0.0');
    const { warnings, items } = await run({ image: 'team/app', tags: { maxAge: '720h' } });
    expect(items.total).toBe(0);
    expect(warnings).toEqual([expect.stringMatching(/Tag 1\.0\.0 is skipped/)]);
  });

  it.each([
    [{ image: 'team/app:1', tags: { match: '*' } }, /spec\.image names a tag/],
    [{ image: 'team/app', override: 'x:1', tags: { match: '*' } }, /spec\.override names a tag/],
    [{ image: 'team/app', tags: [] }, /spec\.tags must be an object/],
    [{ image: 'team/app', tags: {} }, /spec\.tags selects nothing/],
    [{ image: 'team/app', tags: { newst: 1 } }, /spec\.tags\.newst is not a field/],
    [{ image: 'team/app', tags: { newest: 0 } }, /newest must be a whole number/],
    [{ image: 'team/app', tags: { maxAge: 'month' } }, /maxAge must be a duration/],
    [{ image: 'team/app', tags: { match: '9.*' } }, /None of the 1 tags of team\/app .* matches/],
  ])('are refused for %j', async (spec, message) => {
    await seed('1.0.0');
    await expect(run(spec)).rejects.toThrow(message);
  });

  it('are a batch only if spec.tags is set', () => {
    expect(isTagBatch(job({ image: 'a', tags: {} }))).toBe(true);
    expect(isTagBatch(job({ image: 'a' }))).toBe(false);
  });
});

describe('images of several repositories', () => {
  async function seed(images: Record<string, string[]>): Promise<void> {
    for (const [name, tags] of Object.entries(images))
      for (const tag of tags) await seedImage(source, name, tag, { layerBytes: 1000, signature: false });
  }
  const everything = () =>
    [...destination.contents.keys()]
      .flatMap((name) => tagsAt(name).map((tag) => `${name}:${tag}`))
      .toSorted();

  it('are those that match the pattern, each with the matching tags', async () => {
    await seed({
      'team/app': ['1.0.0', '1.1.0'],
      'team/side': ['2.0.0'],
      'team/odd': ['x'],
      other: ['1.0.0'],
    });
    source.contents.set('team/empty', { blobs: new Map(), manifests: new Map(), tags: new Map() });
    source.faults.add({ path: /team\/empty\/tags/, fault: { kind: 'status', status: 404 } });
    const { items, warnings } = await run({ image: 'team/*', tags: { newest: 1 } });
    expect(everything()).toEqual(['mirror/team/app:1.1.0', 'mirror/team/side:2.0.0']);
    expect(items).toMatchObject({ total: 2, copied: 2 });
    expect(warnings).toEqual([
      '2 of the 4 repositories that match "team/*" have no tag that matches spec.tags: team/empty, team/odd',
    ]);
  });

  it('need not have all of the named tags', async () => {
    await seed({ 'team/app': ['1.0.0', 'latest'], 'team/side': ['2.0.0'] });
    await run({ image: '*', tags: { names: ['latest', '2.0.0'] } });
    expect(everything()).toEqual(['mirror/team/app:latest', 'mirror/team/side:2.0.0']);
  });

  it('are named relative to the Endpoint, whose path the catalog includes', async () => {
    await seed({ 'team/app': ['1.0.0'], 'team/deep/side': ['1.0.0'], 'teams/app': ['1.0.0'] });
    const below = job({ image: '*', tags: { match: '*' } });
    const options = { signal: new AbortController().signal, workDir: os.tmpdir() };
    await copyBatch(
      options,
      expanding({ ...below, source: { ...below.source, remoteURL: `${source.url}/team` } }),
    );
    expect(everything()).toEqual(['mirror/app:1.0.0', 'mirror/deep/side:1.0.0']);
  });

  it('are listed with a token for the catalog, and on all pages', async () => {
    await source.close();
    source = await startRegistry({ auth: 'bearer', username: 'bob', password: 'hunter22' });
    for (let index = 0; index < 1001; index += 1)
      source.contents.set(`r${index}`, { blobs: new Map(), manifests: new Map(), tags: new Map() });
    await seed({ zoo: ['1.0.0'] });
    const zoo = job({ image: 'z*', tags: { match: '*' } });
    const credentials = { username: 'bob', password: 'hunter22' };
    const options = { signal: new AbortController().signal, workDir: os.tmpdir() };
    await copyBatch(options, expanding({ ...zoo, source: { ...zoo.source, credentials } }));
    expect(everything()).toEqual(['mirror/zoo:1.0.0']);
    expect(
      source.requests.filter(({ path }) => path.startsWith('/token')).map(({ path }) => path)[0],
    ).toContain(encodeURIComponent('registry:catalog:*'));
    expect(source.count('GET', /_catalog/)).toBe(3);
  });

  it.each([401, 403, 404, 405])('are refused by a registry that answers %i, with advice', async (status) => {
    source.faults.add({ path: /_catalog/, times: 2, fault: { kind: 'status', status } });
    await expect(run({ image: '*', tags: { match: '*' } })).rejects.toThrow(
      `does not list its repositories for this account (status ${status}): order each repository by name`,
    );
  });

  it.each([
    [{ image: 'teem/*', tags: { match: '*' } }, /None of the 1 repositories of Endpoint "src" matches/],
    [{ image: 'team/*', tags: { match: '9' } }, /1 of the 1 repositories .* have no tag that matches/],
    [{ image: 'team/*', override: 'x', tags: { match: '*' } }, /spec\.override names one repository/],
  ])('are refused for %j', async (spec, message) => {
    await seed({ 'team/app': ['1.0.0'] });
    await expect(run(spec)).rejects.toThrow(message);
  });
});

describe('a chart with its images', () => {
  const values = `image: {registry: {host}, repository: team/app, tag: "1.0"}
sidecar: {image: "{host}/team/side:2.0"}
extra: {enabled: false, image: "{host}/team/extra:1"}
`;

  /** Seeds a chart as Helm stores it, and the images that it names. */
  async function seed(): Promise<void> {
    const files = {
      'Chart.yaml': chartYaml('demo', '1.2.3'),
      'values.yaml': values.replaceAll('{host}', source.host),
    };
    await seedChart(source, 'charts/demo', await packChart(files));
    await seedImage(source, 'team/app', '1.0', { layerBytes: 1000 });
    await seedImage(source, 'team/side', '2.0', { layerBytes: 1000, signature: false });
  }
  const spec = { chart: 'demo', repo: 'charts', version: '^1', withImages: true };

  it('arrives after them, each under its name in the chart', async () => {
    await seed();
    const result = await run(spec);
    expect(tagsAt('mirror/charts/demo')).toEqual(['1.2.3']);
    expect(tagsAt('mirror/team/app')).toEqual(['1.0']);
    expect(tagsAt('mirror/team/side')).toEqual(['2.0']);
    expect(result).toMatchObject({
      digest: source.contents.get('charts/demo')?.tags.get('1.2.3'),
      referrers: 1,
      items: { total: 3, copied: 3 },
      warnings: [
        expect.stringMatching(
          /components that the values of chart charts\/demo disable are not moved: .*team\/extra:1/,
        ),
      ],
    });
    const puts = destination.requests.filter(
      ({ method, path }) => method === 'PUT' && /manifests\/[^s]/.test(path),
    );
    expect(puts.at(-1)?.path).toContain('charts/demo/manifests/1.2.3');
    expect((await run(spec)).items).toMatchObject({ unchanged: 3 });
  });

  it('does not arrive without them', async () => {
    await seed();
    source.faults.add({ path: /team\/side\/manifests/, fault: { kind: 'status', status: 403 } });
    const { items } = await failed(run(spec));
    expect(items).toMatchObject({ total: 3, copied: 1, failed: 2 });
    expect(items.list.find(({ target }) => target === 'charts/demo:1.2.3')?.message).toMatch(
      /not moved, because 1 of the artifacts/,
    );
    expect(tagsAt('mirror/charts/demo')).toEqual([]);
    expect(tagsAt('mirror/team/app')).toEqual(['1.0']);
  });

  it('comes with the images of its values and overrides, or with those that are listed', async () => {
    await seed();
    await seedImage(source, 'team/app', '1.1', { layerBytes: 1000, signature: false });
    await run({ ...spec, values: { image: { tag: '1.1' } } });
    expect(tagsAt('mirror/team/app')).toEqual(['1.1']);
    const { items } = await run({ ...spec, withImages: undefined, images: [`${source.host}/team/app:1.0`] });
    expect(items.total).toBe(2);
    expect(tagsAt('mirror/team/app')).toEqual(['1.0', '1.1']);
  });

  it('pulls no image from an unlisted registry, and no two to one target', async () => {
    await seed();
    const images = ['169.254.169.254/a:1', 'elsewhere.example.com/a:1', `${source.host}/team/app:1.0`];
    const { items } = await failed(run({ ...spec, images }));
    expect(items).toMatchObject({ copied: 1, failed: 3 });
    const messages = items.list.map(({ message = '' }) => message);
    expect(messages[0]).toMatch(
      /not pulled from registry 169\.254\.169\.254 .* have an operator add "169\.254\.169\.254" to spec\.redirectHosts of the Endpoint/,
    );
    expect(messages[1]).toMatch(/has the same target as 169\.254\.169\.254\/a:1,/);
  });

  it.each([
    [{ images: 'a' }, /spec\.images must be a list/],
    [{ images: ['Not An Image'] }, /cannot be used/],
    [{ values: [] }, /spec\.values must be an object/],
    [{ imageRegistries: 5 }, /spec\.imageRegistries must be a list/],
  ])('is refused for %j', async (more, message) => {
    await seed();
    await expect(run({ ...spec, ...more })).rejects.toThrow(message);
  });

  it('is moved with images only if the spec says so', () => {
    expect(isChartBatch(job({ chart: 'a' }))).toBe(false);
    expect(isChartBatch(job({ chart: 'a', withImages: true }))).toBe(true);
    expect(isChartBatch(job({ chart: 'a', images: [] }))).toBe(true);
  });
});

describe('where an image of a chart is pulled from', () => {
  const image = { host: 'quay.io', repository: 'team/app', tag: '1', written: 'quay.io/team/app:1' };
  const basic = { username: 'bob', password: 'hunter22' };
  const endpoint = (more: object) => ({
    name: 'src',
    type: 'oci',
    remoteURL: 'https://quay.io/charts',
    ...more,
  });

  it('is the registry of the Endpoint, with its credentials and without its prefix', () => {
    expect(imageLocation(image, endpoint({ credentials: basic }), undefined)).toEqual({
      name: 'src',
      remoteURL: 'https://quay.io',
      image: 'team/app:1',
      credentials: basic,
    });
  });

  const charts = { remoteURL: 'https://charts.example.com', type: 'helm', credentials: basic };

  it("is another registry if the Endpoint lists it, without the Endpoint's password", () => {
    for (const redirectHosts of [['quay.io'], ['*.io'], ['quay.io:443']])
      expect(imageLocation(image, endpoint({ ...charts, redirectHosts }), undefined)).toEqual({
        name: 'src',
        remoteURL: 'https://quay.io',
        image: 'team/app:1',
        redirectHosts,
        identity: false,
      });
    const local = { ...image, host: '127.0.0.1:5000' };
    const named = endpoint({ ...charts, redirectHosts: ['127.0.0.1:5000'] });
    expect(imageLocation(local, named, ['127.*']).remoteURL).toBe('http://127.0.0.1:5000');
    const credentials = { dockerConfigJson: '{"auths":{}}' };
    const configured = endpoint({ ...charts, credentials, redirectHosts: ['quay.io'] });
    expect(imageLocation(image, configured, ['quay.io']).credentials).toEqual(credentials);
  });

  it('is no registry that only the artifact lists', () => {
    for (const redirectHosts of [undefined, [], ['*.quay.io'], ['quay.io.evil.com'], ['quay.io:5000']])
      for (const chosen of [undefined, ['*'], ['quay.io']])
        expect(() => imageLocation(image, endpoint({ ...charts, redirectHosts }), chosen)).toThrow(
          'have an operator add "quay.io" to spec.redirectHosts of the Endpoint',
        );
    const named = endpoint({ ...charts, redirectHosts: ['quay.io', '127.0.0.1:5000'] });
    expect(() => imageLocation(image, named, ['ghcr.io'])).toThrow('spec.imageRegistries of the artifact');
    const local = { ...image, host: '127.0.0.1:5001' };
    expect(() => imageLocation(local, named, ['*'])).toThrow('not pulled from registry 127.0.0.1:5001');
  });
});
