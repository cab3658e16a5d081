import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  endpoints,
  namespaces,
  type Order,
  orders,
  workflows,
} from '#shared/domain';
import { artifactWorkflow, endpoint, order } from '../../../../shared/domain/testing/objects.ts';
import { startApi, type TestApi } from '../../../../test/fixtures/standalone/api-server.ts';
import { createProgram } from '../../program.ts';
import { type QuietIo, quietIo } from '../../testing/quiet-io.ts';

const namespace = 'team';
let api: TestApi;
let folder: string;
beforeAll(async () => {
  api = await startApi();
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-objects-'));
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** What is printed by a command line, and its failure. */
async function run(over: Partial<QuietIo>, ...args: string[]): Promise<QuietIo & { failure: unknown }> {
  const io = quietIo({ env: { KUBECONFIG: api.kubeconfig }, ...over });
  const failure: unknown = await createProgram(io)
    .parseAsync(['node', 'arcctl', ...args, '-n', namespace])
    .then(
      () => undefined,
      (caught: unknown) => caught,
    );
  return Object.assign(io, { failure });
}

async function file(name: string, ...objects: object[]): Promise<string> {
  const at = path.join(folder, name);
  await writeFile(at, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  return at;
}

const asked = (name: string, image: string): Order => ({
  ...order(name, [image]),
  metadata: { name },
});

describe('apply', () => {
  it('writes all objects of a file, and says what becomes of each Order', async () => {
    const fresh = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } };
    const source = { ...endpoint('source'), metadata: { name: 'source' } };
    const at = await file('all.yaml', fresh, source, asked('applied', 'a:1'));
    const dry = await run({}, 'apply', '-f', at, '--dry-run');
    expect([dry.failure, await api.admin.get(orders, { namespace, name: 'applied' })]).toEqual([
      undefined,
      undefined,
    ]);
    const first = await run({}, 'apply', '-f', at);
    expect(first.printed).toEqual([
      'namespace/fresh applied',
      'endpoint.arc.opendefense.cloud/source applied',
      expect.stringMatching(/^order\.arc\.opendefense\.cloud\/applied created: 1 would wait/),
    ]);
    expect(first.notes).toEqual([expect.stringContaining('destination Endpoint')]);
    expect((await run({}, 'apply', '-f', at)).printed.at(-1)).toContain('/applied unchanged');
    const other = await file('other.yaml', asked('applied', 'a:2'));
    expect((await run({}, 'apply', '-f', other)).printed.at(-1)).toContain('/applied configured');
  });

  it('writes nothing of files of which one Order is refused', async () => {
    const wrong = { ...asked('wrong', 'a:1'), spec: { artifacts: [{ type: 'oci' }] } };
    const at = await file('wrong.yaml', asked('right', 'a:1'), wrong);
    expect((await run({}, 'apply', '-f', at)).failure).toMatchObject({
      message: expect.stringContaining('srcRef'),
    });
    expect(await api.admin.get(orders, { namespace, name: 'right' })).toBeUndefined();
  });
});

describe('delete', () => {
  beforeEach(() =>
    api.admin.create(orders, { ...asked('going', 'a:1'), metadata: { name: 'going', namespace } }),
  );
  afterEach(() => api.admin.delete(orders, { namespace, name: 'going' }));

  it('says what goes, asks a person, and waits until it is gone', async () => {
    const answering = (answer: string) => ({ isInteractive: true, ask: async () => answer });
    const kept = await run(answering('n'), 'delete', 'going');
    expect(kept.failure).toMatchObject({ exitCode: 1, message: 'cancelled: nothing was deleted' });
    expect(kept.notes).toEqual([expect.stringContaining('copied content stays at its destination')]);
    const gone = await run(answering('y'), 'delete', 'going');
    expect(gone.printed).toEqual(['order.arc.opendefense.cloud/going deleted']);
    expect((await run({}, 'delete', 'going')).failure).toMatchObject({ code: 'NotFound' });
  });

  it('says which Orders use an Endpoint', async () => {
    await api.admin.create(endpoints, { ...endpoint('to'), metadata: { name: 'destination', namespace } });
    const { notes, printed } = await run({}, 'delete', 'endpoint/destination');
    expect(notes).toEqual([
      expect.stringMatching(/Endpoint destination: used by \d Orders, of which .*going/),
    ]);
    expect(printed).toEqual(['endpoint.arc.opendefense.cloud/destination deleted']);
  });
});

/** An Order with two versions of its artifact, the second of which is in force. */
async function withVersions(name: string): Promise<void> {
  const made = await api.admin.create(orders, { ...asked(name, 'app:2'), metadata: { name, namespace } });
  const { uid = '' } = made.metadata;
  const entries: Record<string, { artifactIndex: number; phase: string }> = {};
  for (const revision of [1, 2]) {
    const key = String(revision).repeat(16);
    const { spec } = artifactWorkflow(`${name}-${key}`);
    const child: ArtifactWorkflow = {
      ...artifactWorkflow(`${name}-${key}`),
      spec: { ...spec, revision, artifact: { spec: { image: `app:${revision}` } } },
      metadata: {
        name: `${name}-${key}`,
        namespace,
        labels: { 'arc.opendefense.cloud/order': uid, 'arc.opendefense.cloud/artifact': 'same' },
        ownerReferences: [{ apiVersion: made.apiVersion, kind: 'Order', name, uid, controller: true }],
      },
    };
    await api.admin.create(artifactWorkflows, child);
    const at = { namespace, name: `${name}-${key}` };
    await api.admin.mergePatch(
      artifactWorkflows,
      at,
      { status: { phase: 'Succeeded' } },
      { subresource: 'status' },
    );
    if (revision === 2) entries[key] = { artifactIndex: 0, phase: 'Succeeded' };
  }
  const status = { status: { phase: 'Succeeded', observedGeneration: 1, artifactWorkflows: entries } };
  await api.admin.mergePatch(orders, { namespace, name }, status, { subresource: 'status' });
}

describe('history and rollback', () => {
  it('show the versions of an artifact, and set it back to one', async () => {
    await withVersions('many');
    const { printed, failure } = await run({}, 'history', 'many');
    expect(failure).toBeUndefined();
    expect(printed.map((line) => line.split(/ {2,}/).slice(1, 4))).toMatchObject([
      ['REVISION', 'CURRENT', 'PHASE'],
      ['2', 'yes', 'Succeeded'],
      ['1', 'Succeeded', '{"image":"app:1"}'],
    ]);
    expect((await run({}, 'history', 'mnay')).failure).toMatchObject({
      message: expect.stringMatching(/no Order mnay .* Did you mean many\?$/),
    });
    expect((await run({}, 'rollback', 'many', '--to', '9')).failure).toMatchObject({
      message: expect.stringContaining('arcctl history many -n team'),
    });
    expect((await run({}, 'rollback', 'many', '--to', '2')).failure).toMatchObject({
      message: expect.stringContaining('already the current one'),
    });
    const back = await run({}, 'rollback', 'many');
    expect(back.printed).toEqual([expect.stringContaining('rolled back to revision 1, {"image":"app:1"}')]);
    const after = await api.admin.get(orders, { namespace, name: 'many' });
    expect(after?.spec.artifacts?.[0]?.spec).toEqual({ image: 'app:1' });
  });
});

describe('run', () => {
  it('starts a run of a schedule as Argo does, unless one is under way', async () => {
    await withVersions('nightly');
    expect((await run({}, 'run', 'nightly')).failure).toMatchObject({
      message: expect.stringContaining('arcctl force nightly -n team'),
    });
    const name = `nightly-${'2'.repeat(16)}`;
    const owner = await api.admin.get(artifactWorkflows, { namespace, name });
    const { uid = '' } = owner?.metadata ?? {};
    const labels = { 'arc.opendefense.cloud/artifact-workflow': name };
    await api.admin.create(cronWorkflows, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'CronWorkflow',
      metadata: {
        name,
        namespace,
        labels: {
          ...labels,
          'arc.opendefense.cloud/order': owner?.metadata.labels?.['arc.opendefense.cloud/order'] ?? '',
        },
        ownerReferences: [
          { apiVersion: 'arc.opendefense.cloud/v1alpha1', kind: 'ArtifactWorkflow', name, uid },
        ],
      },
      spec: {
        schedules: ['@daily'],
        workflowMetadata: { labels },
        workflowSpec: { workflowTemplateRef: { name: 'main' } },
      },
    });
    const { printed, failure } = await run({}, 'run', 'nightly');
    expect(failure).toBeUndefined();
    expect(printed).toEqual([expect.stringMatching(/^workflow\.argoproj\.io\/nightly-2+-\d+ created$/)]);
    const { items } = await api.admin.list(workflows, { namespace });
    expect(items[0]).toMatchObject({
      metadata: {
        labels: { ...labels, 'workflows.argoproj.io/cron-workflow': name },
        ownerReferences: [{ kind: 'CronWorkflow', name }],
      },
      spec: { workflowTemplateRef: { name: 'main' } },
    });
  });
});

describe('describe', () => {
  it('shows an Order with its versions and what to do about its state', async () => {
    await withVersions('shown');
    const status = {
      phase: 'Failed',
      artifactWorkflows: { ['2'.repeat(16)]: { phase: 'Failed', message: 'no access' } },
    };
    await api.admin.mergePatch(orders, { namespace, name: 'shown' }, { status }, { subresource: 'status' });
    const { printed, failure } = await run({}, 'describe', 'shown');
    expect(failure).toBeUndefined();
    const text = printed.join('\n');
    expect(text).toMatch(/Order team\/shown +Failed/);
    expect(text).toMatch(/Failed: .*\n {2}What to do: /);
    expect(text).toContain('No Events in the last hour.');
  });

  it('shows an Endpoint with its conditions and the Orders that use it', async () => {
    await api.admin.create(endpoints, { ...endpoint('used'), metadata: { name: 'used', namespace } });
    const { printed } = await run({}, 'describe', 'aep', 'used');
    expect(printed.join('\n')).toMatch(/remoteURL: [\s\S]*Not used by any Order\./);
  });
});

describe('get --watch', () => {
  it('prints each row, then those that change and those that go', async () => {
    const ending = new AbortController();
    const made = { ...asked('watched', 'a:1'), metadata: { name: 'watched', namespace } };
    await api.admin.create(orders, made);
    const io = quietIo({ env: { KUBECONFIG: api.kubeconfig }, signal: ending.signal });
    const watching = createProgram(io).parseAsync([
      'node',
      'arcctl',
      'get',
      'order',
      'watched',
      '-w',
      '-n',
      namespace,
    ]);
    const shows = (pattern: RegExp) =>
      expect.poll(() => io.printed.at(-1) ?? '', { timeout: 20_000 }).toMatch(pattern);
    await shows(/watched +Pending/);
    const status = { status: { phase: 'Running' } };
    await api.admin.mergePatch(orders, { namespace, name: 'watched' }, status, { subresource: 'status' });
    await shows(/watched +Running/);
    await api.admin.delete(orders, { namespace, name: 'watched' });
    await shows(/watched +gone/);
    expect(io.printed).toHaveLength(4);
    ending.abort();
    await watching;
  });
});
