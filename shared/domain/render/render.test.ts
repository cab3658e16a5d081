import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, EndpointRef } from '../kinds/artifact-workflow.ts';
import type { Secret } from '../kinds/core.ts';
import { jobKey } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { parseJob } from './job.ts';
import { parsePolicies } from './policies.ts';
import { needsConfiguration, type RenderInputs, renderConfiguration } from './render.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function secret(name: string, values: Record<string, string>): Secret {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'team' }, data };
}

function made(given = inputs()): ArtifactWorkflow {
  const [planned] = planOrder(order([image('app')]), given).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  return stored(planned.workflow);
}

const login = secret('login', { username: 'me', password: 'hunter2' });
const [source, destination] = inputs().endpoints;
const read = endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 1 });
const all: RenderInputs = { source, destination, sourceSecret: login };

describe('renderConfiguration', () => {
  it('renders a Job that the worker accepts, owned by the ArtifactWorkflow', () => {
    const workflow = made();
    const found = renderConfiguration(workflow, all);
    if (!('secret' in found)) throw new Error(JSON.stringify(found));
    expect(found.secret.metadata).toMatchObject({
      name: workflow.metadata.name,
      namespace: 'team',
      ownerReferences: [{ kind: 'ArtifactWorkflow', uid: workflow.metadata.uid, controller: true }],
    });
    const text = Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString();
    expect(parseJob(text)).toEqual(JSON.parse(text));
    expect(parseJob(text)).toEqual({
      artifact: { type: 'oci', name: 'app', spec: { image: 'app:1.0' } },
      source: {
        name: 'from',
        type: 'oci',
        remoteURL: 'https://from.example.com',
        credentials: { username: 'me', password: 'hunter2' },
      },
      destination: { name: 'to', type: 'oci', remoteURL: 'https://to.example.com' },
    });
  });

  it('puts the policy of the type in, and attest, which no artifact can set', () => {
    const policy = '{"maxBytes":5}';
    const attest = { name: 'attest', value: 'true' };
    const type = artifactType('oci', { parameters: [{ name: 'policy', value: policy }, attest] });
    const artifact = { ...image('app'), spec: { image: 'app:1.0', policy: '{"maxBytes":6}', attest: true } };
    const jobOf = (given: ReturnType<typeof inputs>) => {
      const [planned] = planOrder(order([artifact]), given).artifacts;
      if (planned?.state !== 'ready') throw new Error('not ready');
      const found = renderConfiguration(stored(planned.workflow), all);
      if (!('secret' in found)) throw new Error(JSON.stringify(found));
      return parseJob(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString());
    };
    expect(jobOf(inputs({ types: [type] }))).toMatchObject({ policy, attest: true });
    expect(jobOf(inputs()).policy).toBeUndefined();
    expect(jobOf(inputs()).attest).toBeUndefined();
  });

  describe('policies that are enforced', () => {
    const [own, enforced] = ['{"maxBytes":5}', '{"requiredSbom":true}'];
    const policyRef = { name: 'signed' };
    const signed = artifactType('signed', { parameters: [{ name: 'policy', value: enforced }] });
    const bound = {
      ...all,
      destination: endpoint('to', { policyRef }),
      types: [signed],
      applyingTemplates: ['arc-oci-image'],
    };
    const handMade = (given: Partial<ArtifactWorkflow['spec']> = {}) => {
      const workflow = made(inputs());
      const { metadata, spec } = workflow;
      const { ownerReferences: _, ...free } = metadata;
      return { ...workflow, metadata: free, spec: { ...spec, ...given } };
    };

    it('are put in beside that of the type, whoever has made it and whatever it says', () => {
      const parameters = [{ name: 'policy', value: own }];
      const found = renderConfiguration(handMade({ type: 'oci', parameters, policies: [] }), bound);
      if (!('secret' in found)) throw new Error(JSON.stringify(found));
      const job = parseJob(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString());
      expect(parsePolicies(job.policy ?? '').map(({ from, policy }) => [from, policy])).toEqual([
        ['artifact type "oci"', { maxBytes: 5 }],
        ['Endpoint "to" (type "signed")', { requiredSbom: true }],
      ]);
    });

    it.each<[string, Partial<RenderInputs>]>([
      ['PolicyMissing', { types: [] }],
      ['PolicyMissing', { destination: undefined, settings: { 'enforced.policy': [{ type: 'none' }] } }],
      ['PolicyNotApplied', { applyingTemplates: [] }],
      ['TypeNotAllowed', { destination: endpoint('to', { allowedTypes: ['signed'] }) }],
    ])('wait for what a person has to do: %s', (reason, more) => {
      expect(renderConfiguration(handMade(), { ...bound, ...more })).toMatchObject({ waiting: { reason } });
    });
  });

  it('puts the certificate authority in, and waits for it', () => {
    const secured = endpoint('to', { tls: { caSecretRef: { name: 'ca' }, insecureSkipVerify: false } });
    const given = { ...all, destination: secured };
    const workflow = made(inputs({ endpoints: [read, secured] }));
    expect(renderConfiguration(workflow, given)).toMatchObject({
      waiting: { reason: 'SecretMissing', message: expect.stringContaining('"ca"') },
    });
    const found = renderConfiguration(workflow, {
      ...given,
      destinationCa: secret('ca', { 'ca.crt': 'PEM' }),
    });
    if (!('secret' in found)) throw new Error(JSON.stringify(found));
    const job = JSON.parse(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString());
    expect(job.destination.tls).toEqual({ ca: 'PEM' });
  });

  it('tells the worker the other hosts that may get the credentials', () => {
    const named = endpoint('to', { tokenHosts: ['auth.example.com'], redirectHosts: ['store:9000'] });
    const workflow = made(inputs({ endpoints: [read, named] }));
    const found = renderConfiguration(workflow, { ...all, destination: named });
    if (!('secret' in found)) throw new Error(JSON.stringify(found));
    const job = parseJob(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString());
    expect(job.destination.tokenHosts).toEqual(['auth.example.com']);
    expect(job.destination.redirectHosts).toEqual(['store:9000']);
  });

  it.each<[string, RenderInputs]>([
    ['generation', { ...all, source: { ...endpoint('from'), metadata: { name: 'from', generation: 2 } } }],
    ['uid', { ...all, source: { ...read, metadata: { ...read.metadata, uid: 'made-again' } } }],
    ['URL', { ...all, source: { ...read, spec: { ...read.spec, remoteURL: 'https://moved.example.com' } } }],
    ['tls', { ...all, source: { ...read, spec: { ...read.spec, tls: { insecureSkipVerify: true } } } }],
    [
      'credentials',
      { ...all, source: endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 2 }) },
    ],
    [
      'Secret',
      { ...all, source: endpoint('from', { secretRef: { name: 'other' } }, { secretGeneration: 1 }) },
    ],
  ])('is stale when the Endpoint has another %s, whatever is missing', (_, given) => {
    expect(renderConfiguration(made(), given)).toMatchObject({ stale: expect.stringContaining('"from"') });
    expect(renderConfiguration(made(), { ...given, sourceSecret: undefined })).toHaveProperty('stale');
  });

  it('renders for an Endpoint whose maxInFlight or usage was edited meanwhile', () => {
    const source = {
      ...read,
      metadata: { ...read.metadata, generation: 2, labels: { team: 'a' } },
      spec: { ...read.spec, maxInFlight: 1, usage: 'PullOnly' as const, tls: {} },
    };
    expect(renderConfiguration(made(), { ...all, source })).toHaveProperty('secret');
  });

  it('compares generations where an ArtifactWorkflow has no digest, and nothing where it has neither', () => {
    const workflow = made();
    const source = { ...read, metadata: { ...read.metadata, generation: 2 } };
    const rendered = (srcRef: EndpointRef) =>
      renderConfiguration({ ...workflow, spec: { ...workflow.spec, srcRef } }, { ...all, source });
    expect(rendered({ name: 'from', generation: 1 })).toHaveProperty('stale');
    expect(rendered({ name: 'from', generation: 2 })).toHaveProperty('secret');
    expect(rendered({ name: 'from' })).toHaveProperty('secret');
  });

  it.each<[string, RenderInputs, string]>([
    ['Endpoint', { ...all, destination: undefined }, 'Endpoint "to" not found'],
    ['Secret', { ...all, sourceSecret: undefined }, 'Secret "login" not found'],
    [
      'usable key',
      { ...all, sourceSecret: secret('login', { pass: 'hunter2' }) },
      'Secret "login" has none of',
    ],
  ])('waits for the %s, without a secret in the text', (_, given, message) => {
    const found = renderConfiguration(made(), given);
    expect(found).toMatchObject({ waiting: { message: expect.stringContaining(message) } });
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  it('reads an ArtifactWorkflow made by hand from its parameters', () => {
    const workflow = made();
    const { srcRef: _, dstRef: __, artifact: ___, ...spec } = workflow.spec;
    const found = renderConfiguration({ ...workflow, spec }, { sourceSecret: login });
    if (!('secret' in found)) throw new Error(JSON.stringify(found));
    const job = JSON.parse(Buffer.from(found.secret.data?.[jobKey] ?? '', 'base64').toString());
    expect(job.artifact.spec).toEqual({ image: 'app:1.0' });
    expect(job.source.remoteURL).toBe('https://from.example.com');
    expect(renderConfiguration({ ...workflow, spec: { ...spec, parameters: [] } }, {})).toHaveProperty(
      'waiting',
    );
  });
});

describe('needsConfiguration', () => {
  it('lasts until nothing more is to follow', () => {
    const workflow = made();
    expect(needsConfiguration(workflow)).toBe(true);
    expect(needsConfiguration({ ...workflow, status: done })).toBe(false);
    expect(needsConfiguration({ ...workflow, status: broken })).toBe(false);
    const retried = { ...workflow, spec: { ...workflow.spec, retry: { limit: 1 } }, status: broken };
    expect(needsConfiguration(retried)).toBe(true);
    const deletionTimestamp = now.toISOString();
    expect(needsConfiguration({ ...workflow, metadata: { ...workflow.metadata, deletionTimestamp } })).toBe(
      false,
    );
  });
});
