import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseSettings } from '#shared/domain';
import { type ArcServer, startArcServer } from '../testing/arc-server.ts';

const collection = '/apis/arc.opendefense.cloud/v1alpha1/namespaces';
const apiVersion = 'arc.opendefense.cloud/v1alpha1';

let server: ArcServer;
let data: Record<string, string> = {};
beforeAll(async () => {
  server = await startArcServer({ settings: () => parseSettings(data).settings });
});
afterAll(() => server.close());
beforeEach(() => {
  data = {};
});

async function call(method: string, at: string, body?: object) {
  const { status, body: answer, warnings } = await server.call(method, `${collection}/${at}`, body);
  return { status, warnings, spec: answer.spec, message: answer.message };
}
const of = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec });
const sides = { srcRef: { name: 'a' }, dstRef: { name: 'b' } };
const artifacts = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ type: 'oci', spec: { image: `a:${index}` }, ...more }));
const order = (name: string, spec: object = {}) => of('Order', name, { defaults: sides, ...spec });

describe("an operator's limit", () => {
  it('of artifacts: refuses more, names itself, and lets an Order that has more already lose some', async () => {
    await call('POST', 'team/orders', order('big', { artifacts: artifacts(5) }));
    data = { 'limits.artifactsPerOrder': '3' };
    expect((await call('POST', 'team/orders', order('three', { artifacts: artifacts(3) }))).status).toBe(201);
    expect(await call('POST', 'team/orders', order('four', { artifacts: artifacts(4) }))).toMatchObject({
      status: 422,
      message:
        'Order.arc.opendefense.cloud "four" is invalid: spec.artifacts: Too many: 4: must have at most 3 items: limits.artifactsPerOrder of the operator\'s settings',
    });
    const change = (spec: object) => call('PATCH', 'team/orders/big', { spec });
    expect((await change({ suspend: true })).status).toBe(200);
    expect((await change({ artifacts: artifacts(6) })).status).toBe(422);
    expect((await change({ artifacts: artifacts(4) })).status).toBe(200);
  });

  it('of cron intervals: stricter or laxer than ten minutes, and only for new schedules', async () => {
    const cron = (schedule: string) => ({ cron: { schedules: [schedule] } });
    const often = artifacts(1, cron('*/5 * * * *'));
    expect((await call('POST', 'team/orders', order('often', { artifacts: often }))).message).toContain(
      'spec.artifacts[0].cron.schedules[0]: Invalid value: "*/5 * * * *": runs must be at least 10 minutes apart: limits.cronInterval',
    );
    data = { 'limits.cronInterval': '5m' };
    expect((await call('POST', 'team/orders', order('often', { artifacts: often }))).status).toBe(201);
    data = { 'limits.cronInterval': '1h' };
    expect((await call('PATCH', 'team/orders/often', { spec: { suspend: true } })).status).toBe(200);
    const twice = artifacts(1, { cron: { schedules: ['0 3 * * *', '30 3 * * *'] } });
    expect((await call('POST', 'team/orders', order('twice', { artifacts: twice }))).message).toContain(
      'spec.artifacts[0].cron.schedules[1]: Invalid value: "30 3 * * *": its runs and those of schedules[0], "0 3 * * *", must be at least 60 minutes apart',
    );
    const second = [...often, ...artifacts(1, { name: 'second', ...cron('*/30 * * * *') })];
    expect((await call('PATCH', 'team/orders/often', { spec: { artifacts: second } })).message).toContain(
      'spec.artifacts[1].cron.schedules[0]: Invalid value: "*/30 * * * *": runs must be at least 60 minutes apart',
    );
    const byDefault = { defaults: { ...sides, ...cron('*/30 * * * *') } };
    expect((await call('POST', 'team/orders', order('default', byDefault))).message).toContain(
      'spec.defaults.cron.schedules[0]',
    );
    const byHand = { workflowTemplateRef: { name: 't' }, ...cron('*/30 * * * *') };
    expect(
      (await call('POST', 'team/artifactworkflows', of('ArtifactWorkflow', 'a', byHand))).message,
    ).toContain('spec.cron.schedules[0]');
  });

  it('of Endpoints: their types and hosts, also where credentials may go', async () => {
    const endpoint = (name: string, remoteURL: string, more: object = {}) =>
      call('POST', 'team/endpoints', of('Endpoint', name, { type: 'oci', remoteURL, ...more }));
    await endpoint('old', 'https://old.example');
    data = { 'limits.endpointHosts': '*.ours.example, local:5000', 'limits.endpointTypes': 'oci, helm' };
    expect((await endpoint('a', 'https://a.OURS.example/team')).status).toBe(201);
    expect((await endpoint('b', 'local:5000')).status).toBe(201);
    expect((await endpoint('c', 'https://other.example')).message).toContain(
      'spec.remoteURL: Invalid value: host "other.example" is not allowed: limits.endpointHosts of the operator\'s settings',
    );
    expect((await endpoint('d', 'http://local')).status).toBe(422);
    expect(
      (await endpoint('e', 'https://a.ours.example', { tokenHosts: ['evil.example'] })).message,
    ).toContain('spec.tokenHosts[0]');
    const leading = (name: string, ...redirectHosts: string[]) =>
      endpoint(name, 'https://a.ours.example', { redirectHosts });
    expect((await leading('k', '*.cdn.ours.example', 'b.ours.example:9000', 'local:5000')).status).toBe(201);
    for (const host of ['evil.example', '*.example', '*.evil.example', 'local', 'local:80', '127.0.0.1:5000'])
      expect((await leading('l', 'b.ours.example', host)).message).toContain('spec.redirectHosts[1]');
    expect((await endpoint('f', 'https://a.ours.example', { type: 's3' })).message).toContain(
      'spec.type: Unsupported value: "s3": supported values: "oci", "helm": limits.endpointTypes',
    );
    delete data['limits.endpointTypes'];
    expect((await endpoint('g', 'file:///release', { type: 'bundle' })).status).toBe(201);
    expect((await endpoint('h', 'file:///layouts/app', { type: 'oci-layout' })).status).toBe(201);
    expect((await endpoint('i', 'file://other.example/share', { type: 'bundle' })).message).toContain(
      'host "other.example" is not allowed',
    );
    expect((await endpoint('j', 's3:///bucket', { type: 's3' })).message).toContain('is not allowed');
    const change = (spec: object) => call('PATCH', 'team/endpoints/old', { spec });
    expect((await change({ maxInFlight: 3 })).status).toBe(200);
    expect((await change({ remoteURL: 'https://newer.example' })).status).toBe(422);
  });

  it('of Endpoints: holds for an ArtifactWorkflow made by hand with parameters in place of Endpoints', async () => {
    const parameters = (values: Record<string, string>) =>
      Object.entries(values).map(([name, value]) => ({ name, value }));
    const byHand = (name: string, values: Record<string, string>, more: object = {}) => {
      const spec = { workflowTemplateRef: { name: 't' }, parameters: parameters(values), ...more };
      return call('POST', 'team/artifactworkflows', of('ArtifactWorkflow', name, spec));
    };
    const far = { srcType: 's3', srcRemoteURL: 'https://far.example', specImage: 'other.example/a:1' };
    await call('POST', 'team/endpoints', of('Endpoint', 'far', { type: 's3', remoteURL: far.srcRemoteURL }));
    expect((await byHand('before', far)).status).toBe(201);

    data = { 'limits.endpointHosts': '*.ours.example', 'limits.endpointTypes': 'oci, helm' };
    const near = { dstType: 'oci', dstRemoteURL: 'a.ours.example/team' };
    expect((await byHand('near', { ...near, srcRemoteURL: 'file:///release' })).status).toBe(201);
    const hostRefused =
      'Invalid value: host "far.example" is not allowed: limits.endpointHosts of the operator\'s settings';
    const typeRefused =
      'Unsupported value: "s3": supported values: "oci", "helm": limits.endpointTypes of the operator\'s settings';
    expect(await byHand('far', { ...near, ...far })).toMatchObject({
      status: 422,
      message: `ArtifactWorkflow.arc.opendefense.cloud "far" is invalid: [spec.parameters[2].value: ${typeRefused}, spec.parameters[3].value: ${hostRefused}]`,
    });
    expect((await byHand('to', { dstRemoteURL: 'far.example' })).message).toContain(
      `spec.parameters[0].value: ${hostRefused}`,
    );
    // What is there stays, and so does what Orders make of an Endpoint that was accepted before.
    const suspended = await call('PATCH', 'team/artifactworkflows/before', { spec: { suspend: true } });
    expect(suspended.status).toBe(200);
    expect((await byHand('of-order', { ...near, ...far }, { srcRef: { name: 'far' } })).status).toBe(201);
    const another = { ...far, srcRemoteURL: 'https://far.example/elsewhere' };
    expect((await byHand('another', another, { srcRef: { name: 'far' } })).message).toContain(hostRefused);
    expect((await byHand('side', far, { dstRef: { name: 'far' } })).status).toBe(422);
    expect((await byHand('nowhere', far, { srcRef: { name: 'nowhere' } })).status).toBe(422);
  });
});

describe('what is switched off', () => {
  it('is refused by its name, in what is new', async () => {
    const cron = { cron: { schedules: ['@daily'] } };
    const old = { ttl: '1h', artifacts: artifacts(1, { name: 'old', ...cron }) };
    await call('POST', 'team/orders', order('with-all', old));
    data = { 'features.cron': 'off', 'features.ttl': 'off', 'defaults.ttl': '1h' };
    const both = { ...old, ttlSecondsAfterCompletion: 5, defaults: { ...sides, ...cron } };
    const { status, message } = await call('POST', 'team/orders', order('another', both));
    const said = (field: string, what: string, feature: string) =>
      `${field}: Forbidden: ${what} are switched off: features.${feature} of the operator's settings`;
    expect([status, message]).toEqual([
      422,
      `Order.arc.opendefense.cloud "another" is invalid: [${[
        said('spec.defaults.cron', 'schedules', 'cron'),
        said('spec.artifacts[0].cron', 'schedules', 'cron'),
        said('spec.ttl', 'times to live', 'ttl'),
        said('spec.ttlSecondsAfterCompletion', 'times to live', 'ttl'),
      ].join(', ')}]`,
    ]);
    const change = (spec: object) => call('PATCH', 'team/orders/with-all', { spec });
    expect((await change({ suspend: true })).status).toBe(200);
    expect((await change({ artifacts: [...old.artifacts, ...artifacts(1)] })).status).toBe(200);
    expect((await change({ ttl: '2h' })).status).toBe(422);
    expect((await change({ ttl: null })).status).toBe(200);
    const plain = await call('POST', 'team/orders', order('plain'));
    expect([plain.status, plain.spec]).toEqual([201, { defaults: sides }]);
    const type = { workflowTemplateRef: { name: 't' }, ttlAfterFailed: '1h' };
    expect((await call('POST', 'team/artifacttypes', of('ArtifactType', 'a', type))).message).toContain(
      said('spec.ttlAfterFailed', 'times to live', 'ttl'),
    );
    const byHand = { ...type, ...cron };
    const made = await call('POST', 'team/artifactworkflows', of('ArtifactWorkflow', 'by-hand', byHand));
    expect(made.message).toContain(said('spec.cron', 'schedules', 'cron'));
  });

  it('is no probe by request', async () => {
    const endpoint = of('Endpoint', 'probed', { type: 'oci', remoteURL: 'https://a.example' });
    await call('POST', 'team/endpoints', endpoint);
    data = { 'features.probes': 'off' };
    const metadata = { annotations: { 'arc.opendefense.cloud/probe-at': '1' } };
    expect((await call('PATCH', 'team/endpoints/probed', { metadata })).message).toContain(
      'metadata.annotations[arc.opendefense.cloud/probe-at]: Forbidden: probes are switched off: features.probes',
    );
    expect((await call('PATCH', 'team/endpoints/probed', { spec: { maxInFlight: 1 } })).status).toBe(200);
  });
});

describe("an operator's default and what is enforced", () => {
  it('defaults.ttl is written into a new Order that sets none', async () => {
    const before = await call('POST', 'team/orders', order('before'));
    expect(before.spec).not.toHaveProperty('ttl');
    data = { 'defaults.ttl': '720h' };
    expect((await call('POST', 'team/orders', order('after'))).spec).toMatchObject({ ttl: '720h' });
    expect((await call('POST', 'team/orders', order('own', { ttl: '1h' }))).spec).toMatchObject({
      ttl: '1h',
    });
    const updated = await call('PATCH', 'team/orders/before', { spec: { suspend: true } });
    expect(updated.spec).not.toHaveProperty('ttl');
    expect((await call('POST', 'team/orders', { ...order('odd'), spec: 'none' })).status).toBe(422);
  });

  it('warns of a field that has no effect', async () => {
    data = { 'enforced.onChange': 'Keep', 'enforced.retry.limit': '1' };
    const { warnings, status } = await call(
      'POST',
      'team/orders',
      order('own-way', { onChange: 'Rerun', retry: { limit: 1, backoff: '5s' } }),
    );
    expect([status, warnings]).toEqual([
      201,
      '299 - "spec.onChange: has no effect: the operator has set enforced.onChange to Keep"',
    ]);
  });
});
