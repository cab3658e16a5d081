import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import {
  annotations,
  artifactWorkflows,
  events,
  parseJob,
  parsePolicies,
  type Secret,
  secrets,
} from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import {
  artifactType,
  artifactWorkflow,
  endpoint,
  namespace,
  ociTemplate,
  secret,
} from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const fresh = artifactWorkflow(name, { status: {} });
const inputs = [endpoint('source'), endpoint('destination')];

function jobOf(rendered: Secret | undefined) {
  const text = Buffer.from(rendered?.data?.['job.json'] ?? '', 'base64').toString();
  expect(parseJob(text)).toEqual(JSON.parse(text));
  return parseJob(text);
}

describe('render-secret', () => {
  it('renders the job into a Secret that the ArtifactWorkflow owns, and records its name', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    await handle(contextOf(api), eventOf(fresh));
    const rendered = api.read(secrets, { namespace, name });
    expect(rendered?.metadata.ownerReferences?.[0]?.uid).toBe(fresh.metadata.uid);
    expect(jobOf(rendered)).toMatchObject({
      artifact: { type: 'oci', spec: { image: 'team/app:1.0' } },
      source: { remoteURL: 'https://source.example.com' },
      destination: { remoteURL: 'https://destination.example.com' },
    });
    expect(api.read(artifactWorkflows, fresh.metadata)?.status?.configSecret).toEqual({ name });
  });

  it('includes the credentials', async () => {
    const source = { ...endpoint('source', { secretRef: { name: 'login' } }) };
    source.status = { observedGeneration: 1, secretGeneration: 1 };
    const workflow = artifactWorkflow(name, {
      status: {},
      spec: {
        ...fresh.spec,
        srcRef: { name: 'source', generation: 1, secretGeneration: 1 },
        srcSecretRef: { name: 'login' },
      },
    });
    const api = new FakeApi([
      workflow,
      source,
      endpoint('destination'),
      secret('login', { username: 'u', password: 'p' }),
    ]);
    await handle(contextOf(api), eventOf(workflow));
    expect(jobOf(api.read(secrets, { namespace, name })).source.credentials).toEqual({
      username: 'u',
      password: 'p',
    });
  });

  describe('where a policy is enforced', () => {
    const policy = '{"maxBytes":5}';
    const gate = artifactType('gate', { parameters: [{ name: 'policy', value: policy }] });
    const { metadata, ...rest } = ociTemplate();
    const applying = { ...metadata, annotations: { [annotations.appliesPolicies]: 'true' } };
    const template = { ...rest, metadata: applying };
    const bound = [endpoint('source'), endpoint('destination', { policyRef: { name: 'gate' } })];
    const settings = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'arc-settings', namespace: 'arc-system' },
      data: { 'enforced.policy': `${namespace}=gate` },
    };

    it.each([
      ['on the destination', bound, 'Endpoint "destination" (type "gate")'],
      ['by the operator', [...inputs, settings], 'setting enforced.policy (type "gate")'],
    ])('puts it into the job: %s', async (_, objects, from) => {
      const api = new FakeApi([fresh, gate, template, ...objects]);
      await handle(contextOf(api), eventOf(fresh));
      const job = jobOf(api.read(secrets, { namespace, name }));
      expect(parsePolicies(job.policy ?? '')).toMatchObject([{ from, policy: { maxBytes: 5 } }]);
    });

    it.each<[string, object[]]>([
      ['PolicyMissing', [template, ...bound]],
      ['PolicyNotApplied', [gate, ociTemplate(), ...bound]],
      ['PolicyNotApplied', [gate, ...bound]],
    ])('renders no Secret, and says why: %s', async (reason, objects) => {
      const api = new FakeApi([fresh, ...(objects as typeof inputs)]);
      await handle(contextOf(api), eventOf(fresh));
      expect(api.all(secrets)).toEqual([]);
      expect(api.read(artifactWorkflows, fresh.metadata)?.status).toMatchObject({ configReason: reason });
      expect(api.all(events)).toMatchObject([{ type: 'Warning', reason }]);
    });
  });

  it('renders none for one that is cancelled, and removes the one that is there', async () => {
    const cancelled = { ...fresh, spec: { ...fresh.spec, cancel: true } };
    const api = new FakeApi([fresh, ...inputs]);
    await handle(contextOf(api), eventOf(fresh));
    api.put({ ...cancelled, status: { configSecret: { name }, phase: 'Running' } });
    await handle(contextOf(api), eventOf(cancelled));
    expect(api.all(secrets)).toEqual([]);
    expect(api.read(artifactWorkflows, fresh.metadata)?.status?.configSecret).toBeUndefined();
    await handle(contextOf(api), eventOf(cancelled));
    expect(api.all(secrets)).toEqual([]);
  });

  it('writes nothing the second time', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    await handle(contextOf(api), eventOf(fresh));
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(fresh));
    expect(api.writes.length).toBe(before);
  });

  it('renders a deleted Secret again', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    await handle(contextOf(api), eventOf(fresh));
    await api.client.delete(secrets, { namespace, name });
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(secrets, { namespace, name })).toBeDefined();
  });

  it('renders nothing for an Endpoint that has changed: the Order makes another version', async () => {
    const moved = { ...endpoint('source') };
    moved.metadata = { ...moved.metadata, generation: 2 };
    const api = new FakeApi([fresh, moved, endpoint('destination')]);
    await handle(contextOf(api), eventOf(fresh));
    expect(api.writes).toEqual([]);
  });

  it('reports a missing input once per cause, and writes nothing when it is repeated', async () => {
    const api = new FakeApi([fresh, endpoint('source')]);
    await handle(contextOf(api), eventOf(fresh));
    expect(api.all(events)[0]).toMatchObject({ reason: 'EndpointMissing' });
    const missing = 'Endpoint "destination" not found: create it';
    expect(api.all(events)[0]?.message).toContain(missing);
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).toEqual({
      announced: '',
      configReason: 'EndpointMissing',
      configMessage: missing,
    });
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(fresh));
    expect(api.writes.length).toBe(before);
    api.put(endpoint('destination'));
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).toMatchObject({ configSecret: { name } });
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).not.toHaveProperty('configMessage');
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).not.toHaveProperty('configReason');
  });

  it('reports a foreign Secret of the same name and does not change it', async () => {
    const api = new FakeApi([fresh, ...inputs, secret(name, { mine: 'yes' })]);
    await handle(contextOf(api), eventOf(fresh));
    expect(api.all(events)[0]).toMatchObject({ reason: 'NameTaken' });
    expect(api.read(secrets, { namespace, name })?.data).toHaveProperty('mine');
    expect(api.read(artifactWorkflows, fresh.metadata)?.status?.configSecret).toBeUndefined();
  });

  it('rejects with Conflict while the Secret of an earlier ArtifactWorkflow of its name exists', async () => {
    const left = secret(name, { 'job.json': '{}' });
    const former = [
      { apiVersion: fresh.apiVersion, kind: fresh.kind, name, uid: 'uid-before', controller: true },
    ];
    const api = new FakeApi([
      fresh,
      ...inputs,
      {
        ...left,
        metadata: { ...left.metadata, ownerReferences: former },
      },
    ]);
    await expect(handle(contextOf(api), eventOf(fresh))).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.writes).toEqual([]);
  });

  it('rejects with Conflict when another instance created the Secret meanwhile', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'secrets') api.put(secret(name, {}));
    };
    await expect(handle(contextOf(api), eventOf(fresh))).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('removes Secret and reference when the ArtifactWorkflow has ended, but never a foreign Secret', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    await handle(contextOf(api), eventOf(fresh));
    const running = api.read(artifactWorkflows, fresh.metadata) ?? fresh;
    const ended = { ...running.status, phase: 'Succeeded' as const, syncedAttempt: 1 };
    api.put({ ...running, status: ended });
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(secrets, { namespace, name })).toBeUndefined();
    expect(api.read(artifactWorkflows, fresh.metadata)?.status?.configSecret).toBeUndefined();

    api.put({ ...running, status: ended });
    api.put(secret(name, { mine: 'yes' }));
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(secrets, { namespace, name })).toBeDefined();
  });

  it('removes a Secret that was rendered while the ArtifactWorkflow ended', async () => {
    const ended = { phase: 'Succeeded' as const, syncedAttempt: 1 };
    const api = new FakeApi([fresh, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'secrets') api.put({ ...fresh, status: ended });
    };
    await expect(handle(contextOf(api), eventOf(fresh))).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.read(secrets, { namespace, name })).toBeDefined();
    await handle(contextOf(api), eventOf(fresh));
    expect(api.read(secrets, { namespace, name })).toBeUndefined();
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).toEqual(ended);
  });

  it('reports why the API refuses the Secret', async () => {
    const api = new FakeApi([fresh, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'secrets') throw new ArcError('Forbidden', 'exceeded quota: few');
    };
    await handle(contextOf(api), eventOf(fresh));
    const message = `cannot create Secret "${name}": exceeded quota: few`;
    expect(api.read(artifactWorkflows, fresh.metadata)?.status).toEqual({
      announced: '',
      configReason: 'RenderingFailed',
      configMessage: message,
    });
    expect(api.all(events)[0]).toMatchObject({ reason: 'RenderingFailed', message });
  });

  it.each(['get', 'create'])(
    'says how to give it a namespace in which it may not %s Secrets',
    async (verb) => {
      const api = new FakeApi([fresh, ...inputs]);
      const user = 'system:serviceaccount:arc-system:render-secret';
      const answer = `secrets is forbidden: User "${user}" cannot ${verb} resource "secrets" in API group "" in the namespace "team"`;
      api.before = (call) => {
        if (call.verb === verb && call.resource === 'secrets') throw new ArcError('Forbidden', answer);
      };
      await handle(contextOf(api), eventOf(fresh));
      expect(api.read(artifactWorkflows, fresh.metadata)?.status).toEqual({
        announced: '',
        configReason: 'NamespaceNotGiven',
        configMessage: expect.stringContaining('kubectl apply -k knative/tenant -n team'),
      });
    },
  );

  it('leaves the Secret of a deleted ArtifactWorkflow to the garbage collector', async () => {
    const going = artifactWorkflow(name, {
      status: {},
      metadata: { ...fresh.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    const api = new FakeApi([going, ...inputs]);
    await handle(contextOf(api), eventOf(going));
    expect(api.writes).toEqual([]);
  });
});
