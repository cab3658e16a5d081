import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingsMap } from '#shared/conduit/function-kit';
import { clusterArtifactTypes, configMaps, endpoints, type Order, textDigest } from '#shared/domain';
import { parseManifests, seedImage } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { attach, payloadLayer, payloadOf, signed } from '../../shared/transfer/testing/signing.ts';
import { type Conduit, password, startConduit, username } from '../fixtures/standalone/conduit.ts';

const image = { platforms: ['linux/amd64'], layers: 1, layerBytes: 32 * 1024, signature: false };
const maker = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = maker.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const policy = JSON.stringify({ requiredSigners: { anyOf: [pem] } });
const digest = textDigest(policy);

let conduit: Conduit;

beforeAll(async () => {
  conduit = await startConduit();
  // Before any function has read the settings, which it remembers for some seconds.
  const data = { 'enforced.policy': 'strict=oci-signed' };
  await conduit.api.mergePatch(configMaps, settingsMap, { data });
  await typeWithPolicy('oci-signed');
});
afterAll(() => conduit?.close());

async function typeWithPolicy(name: string): Promise<void> {
  const oci = await conduit.api.get(clusterArtifactTypes, { name: 'oci' });
  if (!oci) throw new Error('the type oci is not there');
  const spec = { ...oci.spec, parameters: [{ name: 'policy', value: policy }] };
  await conduit.api.create(clusterArtifactTypes, { ...oci, metadata: { name }, spec });
}

/** An image at the source, signed by the maker if it is to be. */
async function seed(name: string, isSigned = false): Promise<void> {
  const { digest: root } = await seedImage(conduit.source, name, '1.0', image);
  if (isSigned) await sign(name, root);
}

async function sign(name: string, root: string): Promise<void> {
  const payload = payloadOf(root);
  const layers = [payloadLayer(payload, signed(payload, maker.privateKey))];
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  await attach(conduit.source, name, root, 'sig', layers, { authorization });
}

const artifact = (name: string, type: string) => ({ name, type, spec: { image: `${name}:1.0` } });
const entries = ({ status }: Order) => Object.values(status?.artifactWorkflows ?? {});
const landed = (name: string) =>
  conduit.destination.requests.filter(({ method, path }) => method === 'PUT' && path.includes(`/${name}/`));

describe('a policy of a destination', { timeout: 300_000 }, () => {
  it('denies an unsigned image as every type, once the Endpoint names it', async () => {
    const tenant = await conduit.tenant('bound');
    await seed('chosen');
    // What was to be shown: the type decides, so the policy can be chosen away.
    await tenant.order('as-signed', [artifact('chosen', 'oci-signed')], { retry: { limit: 0 } });
    await tenant.ended('as-signed', 'Failed');
    await tenant.order('as-oci', [artifact('chosen', 'oci')], { retry: { limit: 0 } });
    await tenant.ended('as-oci', 'Succeeded');

    await tenant.patch(endpoints, 'destination', { spec: { policyRef: { name: 'oci-signed' } } });
    for (const name of ['as-oci', 'as-signed']) {
      const order = await tenant.when(
        name,
        'denied by the policy of its destination',
        (each) => entries(each)[0]?.message?.includes('Endpoint "destination"') === true,
      );
      expect(entries(order)[0]).toMatchObject({ phase: 'Failed' });
    }
    const denied = (await tenant.children()).filter(({ spec }) => spec.policies !== undefined);
    const from = 'Endpoint "destination" (type "oci-signed")';
    expect(denied.map(({ spec }) => spec.policies)).toEqual(Array(2).fill([{ from, digest }]));
    const results = Object.fromEntries(denied.map(({ spec, status }) => [spec.type ?? '', status?.results]));
    expect(results.oci).toMatchObject({
      reason: 'denied-by-policy',
      message: expect.stringMatching(
        /^Denied by the policy of Endpoint "destination" \(type "oci-signed"\), rule requiredSigners/,
      ),
      policies: [{ from, digest }],
    });
    expect(results['oci-signed']?.policies).toEqual([
      { from: `artifact type "oci-signed", ${from}`, digest },
    ]);
  });

  it('lets a signed image pass, as every type, and the record says which policies did', async () => {
    const tenant = await conduit.tenant('signed');
    await tenant.patch(endpoints, 'destination', { spec: { policyRef: { name: 'oci-signed' } } });
    await seed('made', true);
    await tenant.order('made', [artifact('made', 'oci')]);
    await tenant.ended('made');
    const [child] = await tenant.children();
    expect(child?.status?.results).toMatchObject({
      outcome: 'succeeded',
      policies: [{ from: 'Endpoint "destination" (type "oci-signed")', digest }],
    });
  });

  it('refuses types whose template does not apply it, and moves nothing', async () => {
    const tenant = await conduit.tenant('others');
    await tenant.patch(endpoints, 'destination', { spec: { policyRef: { name: 'oci-signed' } } });
    const light = await conduit.typeOf('light', 'test/light:1');
    await tenant.order('light', [
      { type: light, spec: { image: 'a:1' } },
      { type: 'file', spec: { path: 'a' } },
    ]);
    const order = await tenant.when('light', 'refused', ({ status }) => status?.counts?.invalid === 2);
    for (const { message } of entries(order))
      expect(message).toMatch(
        / does not apply: use a type whose ClusterWorkflowTemplate runs the transfer-worker/,
      );
    expect(tenant.started()).toEqual([]);
  });

  it('that is absent holds what is to be written there, and says so, until it is there', async () => {
    const tenant = await conduit.tenant('absent');
    await tenant.patch(endpoints, 'destination', { spec: { policyRef: { name: 'oci-later' } } });
    await seed('late', true);
    await tenant.order('late', [artifact('late', 'oci')]);
    const order = await tenant.when('late', 'Invalid', (each) => entries(each)[0]?.phase === 'Invalid');
    expect(entries(order)[0]?.message).toContain(
      'ArtifactType or ClusterArtifactType "oci-later" not found, whose policy spec.policyRef of Endpoint "destination" enforces',
    );
    expect(order.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'PolicyMissing' }),
    );
    expect(tenant.started()).toEqual([]);
    await typeWithPolicy('oci-later');
    await tenant.ended('late');
  });
});

describe('the example', { timeout: 300_000 }, () => {
  it('is denied as it is written: nobody has signed its image with the key', async () => {
    const tenant = await conduit.tenant('example');
    await seedImage(conduit.source, 'team/app', '1.0', image);
    const file = 'knative/examples/policies.yaml';
    const text = (await readFile(file, 'utf8')).replaceAll('oci-signed', 'oci-example');
    // The tenant has a namespace and a source.
    const manifests = parseManifests(text, file).filter(
      ({ kind, metadata }) => kind !== 'Namespace' && metadata.name !== 'source',
    );
    for (const object of manifests) {
      const { name } = object.metadata;
      const remoteURL = conduit.destination.url;
      const isEndpoint = object.kind === 'Endpoint';
      const reached = { ...(object.spec as object), remoteURL, secretRef: { name: 'credentials' } };
      const metadata =
        object.kind === 'ClusterArtifactType' ? { name } : { name, namespace: tenant.namespace };
      const whole = { ...object, metadata, ...(isEndpoint && { spec: reached }) };
      await apply(conduit.api, whole, AbortSignal.timeout(10_000));
    }
    const [denied] = entries(await tenant.ended('release', 'Failed'));
    expect(denied?.message).toMatch(/^Denied by the policy of Endpoint "production" \(type "oci-example"\)/);
  });
});

describe('an Endpoint with allowedTypes', { timeout: 300_000 }, () => {
  it('is used by no other type', async () => {
    const tenant = await conduit.tenant('allowed');
    await tenant.patch(endpoints, 'source', { spec: { allowedTypes: ['oci-signed'] } });
    await seed('allowed', true);
    await tenant.order('mixed', [
      artifact('allowed', 'oci'),
      { ...artifact('signed', 'oci-signed'), spec: { image: 'allowed:1.0', override: 'allowed:signed' } },
    ]);
    const order = await tenant.ended('mixed', 'Failed');
    expect(
      entries(order)
        .map(({ phase }) => phase)
        .sort(),
    ).toEqual(['Invalid', 'Succeeded']);
    expect(JSON.stringify(order.status)).toContain('may be used by artifact type oci-signed, not \\"oci\\"');
  });
});

describe('a policy of the operator', { timeout: 300_000 }, () => {
  it('binds every artifact of its namespace, whatever type and Endpoints it names', async () => {
    const tenant = await conduit.tenant('strict');
    await seed('plain');
    await tenant.order('plain', [artifact('plain', 'oci')], { retry: { limit: 0 } });
    const [denied] = entries(await tenant.ended('plain', 'Failed'));
    expect(denied?.message).toMatch(/Denied by the policy of setting enforced\.policy \(type "oci-signed"\)/);
    expect(landed('plain')).toEqual([]);
  });
});
