import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KubeObject } from '#shared/base/meta';
import { createMetrics, type Logger } from '#shared/base/telemetry';
import { arcKinds } from '#shared/domain';
import { createApiServer, type KindDefinition } from '#shared/kubernetes/apiserver';
import { createKubeClient, type KubeClient } from '#shared/kubernetes/client';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { admissionKinds } from './admission-kinds.ts';
import { writesTo } from './admission-rules.ts';
import { followClusterAdmission } from './cluster-admission.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A cluster that serves some of the kinds, on our own generic server; `hidden` may not be read. */
async function startCluster(served: readonly string[], hidden: readonly string[] = []): Promise<KubeClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-cluster-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const store = await openEmbeddedStore({ folder });
  closers.push(() => store.close());
  const kinds = admissionKinds
    .filter(({ kind, apiVersion }) => served.includes(kind) && !/alpha|beta/.test(apiVersion))
    .map(({ kind, apiVersion, plural }): KindDefinition => {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
      return {
        group: group ?? '',
        version: version ?? '',
        kind,
        plural,
        singular: kind.toLowerCase(),
        scope: 'Cluster',
        description: 'For tests.',
        status: false,
        columns: [],
        schema: z.object({ webhooks: z.array(z.unknown()).optional(), spec: z.looseObject({}).optional() }),
      };
    });
  const api = createApiServer({
    kinds,
    store,
    authenticate: async () => ({ name: 'test', groups: [] }),
    authorize: async (_user, asked) => ({
      allowed: !asked.isResourceRequest || !hidden.includes(asked.resource),
    }),
  });
  const url = await new Promise<string>((resolve) => {
    const server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    closers.push(() => server.close());
  });
  closers.push(() => api.close());
  return createKubeClient({ server: url, token: () => 'test', userAgent: 'test' });
}

function follow(client: KubeClient) {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, message?: string) =>
    void lines.push(`${level} ${message ?? String(_fields)}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') } as Logger;
  const metrics = createMetrics();
  const control = new AbortController();
  closers.push(() => control.abort());
  const followed = followClusterAdmission({
    client,
    writes: writesTo(arcKinds),
    log,
    metrics,
    signal: control.signal,
  });
  return { ...followed, lines, metrics };
}

const everything = [...new Set(admissionKinds.map(({ kind }) => kind))];
const kindOf = (name: string) => {
  const found = admissionKinds.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(name);
  return found;
};
const make = (client: KubeClient, kind: string, name: string, more: object) => {
  const { apiVersion, namespaced } = kindOf(kind);
  const metadata = { name, ...(namespaced && { namespace: 'team' }) };
  return client.create<KubeObject>(kindOf(kind), { apiVersion, kind, metadata, ...more });
};
const star = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
const pods = { ...star, apiGroups: [''], resources: ['pods'] };

describe('followClusterAdmission', () => {
  it('names and counts the objects that select our kinds, and logs each change once', async () => {
    const client = await startCluster(everything);
    await make(client, 'ValidatingWebhookConfiguration', 'audit', {
      webhooks: [{ rules: [pods] }, { rules: [star] }],
    });
    await make(client, 'ValidatingWebhookConfiguration', 'pods', { webhooks: [{ rules: [pods] }] });
    await make(client, 'MutatingWebhookConfiguration', 'strict', { webhooks: [{ rules: [star] }] });
    const { notices, check, lines, metrics } = follow(client);
    expect(() => check?.()).toThrow('not read yet');
    await eventually('everything to be read', 10_000, () => check());
    const sentence =
      'not applied to writes of our kinds: MutatingWebhookConfiguration "strict", ValidatingWebhookConfiguration "audit"';
    expect(notices()).toEqual([sentence]);
    expect(lines[0]).toContain(
      `warn admission of the cluster: ${sentence}; this cluster has no`.slice(0, 100),
    );
    expect(metrics.expose()).toContain(
      'arc_api_server_unapplied_admission{kind="ValidatingWebhookConfiguration"} 1\n',
    );
    const before = lines.length;
    await client.delete(kindOf('ValidatingWebhookConfiguration'), { name: 'pods' });
    await client.delete(kindOf('MutatingWebhookConfiguration'), { name: 'strict' });
    await client.delete(kindOf('ValidatingWebhookConfiguration'), { name: 'audit' });
    await eventually('nothing to select us', 10_000, () => expect(notices()).toEqual([]));
    expect(lines.slice(before).map((text) => text.split(' ')[0])).toEqual(['warn', 'info']);
    expect(metrics.expose()).toContain(
      'arc_api_server_unapplied_admission{kind="ValidatingWebhookConfiguration"} 0\n',
    );
  });

  it('counts a policy once it is bound, as far as both select', async () => {
    const client = await startCluster(everything);
    const matchConstraints = { resourceRules: [{ ...star, resources: ['orders'] }] };
    for (const kind of ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy']) {
      for (const name of ['bound', 'elsewhere', 'idle'])
        await make(client, kind, name, { spec: { matchConstraints } });
      const spec = { policyName: 'bound' };
      await make(client, `${kind}Binding`, 'first', { spec });
      const matchResources = { resourceRules: [{ ...star, resources: ['endpoints'] }] };
      await make(client, `${kind}Binding`, 'second', { spec: { policyName: 'elsewhere', matchResources } });
    }
    const { notices, check } = follow(client);
    await eventually('everything to be read', 10_000, () => check());
    expect(notices()).toEqual([
      'not applied to writes of our kinds: MutatingAdmissionPolicy "bound", ValidatingAdmissionPolicy "bound"',
    ]);
    await make(client, 'ValidatingAdmissionPolicyBinding', 'third', { spec: { policyName: 'idle' } });
    await eventually('the third binding to count', 10_000, () =>
      expect(notices().join()).toContain('ValidatingAdmissionPolicy "idle"'),
    );
  });

  it('reports absent and forbidden APIs, and becomes ready nevertheless', async () => {
    const client = await startCluster(
      ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
      ['mutatingwebhookconfigurations'],
    );
    const { notices, check, lines } = follow(client);
    await eventually('everything to be settled', 10_000, () => check());
    expect(notices()).toEqual([
      'no right to list mutatingwebhookconfigurations: those that select our kinds are not known',
    ]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^warn .*no right to list mutatingwebhookconfigurations.*; this cluster has no validatingadmissionpolicies, .*mutatingadmissionpolicybindings$/,
      ),
    ]);
  });

  it('shows at most twenty names', async () => {
    const client = await startCluster(everything);
    for (let index = 0; index < 25; index++)
      await make(client, 'MutatingWebhookConfiguration', `w${index}`, { webhooks: [{ rules: [star] }] });
    const { notices, check } = follow(client);
    await eventually('everything to be read', 10_000, () => check());
    expect(notices()[0]).toMatch(/"w\d+" and 5 more$/);
  });
});
