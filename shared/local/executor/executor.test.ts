import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { pods } from '#shared/domain';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { createLiveLogs, type LiveLogs } from '../kinds/live-logs.ts';
import { type ExecutorOptions, startExecutor } from './executor.ts';
import { readIfThere } from './run-folder.ts';
import {
  clusterWorkflowTemplates,
  secrets,
  type Template,
  type Workflow,
  type WorkflowSpec,
  workflows,
} from './workflow.ts';

// The arguments say what the program does: `exit N`, `wait` (until a file named by the run appears) …
const program = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
process.stdin.on('end', () => process.exit(1)).resume();
const [root, id, ...todo] = process.argv.slice(2);
const log = (text) => appendFileSync(path.join(root, 'log'), id + ' ' + text + '\\n');
log('start');
const until = async (file) => { while (!existsSync(path.join(root, file))) await new Promise((r) => setTimeout(r, 10)); };
for (let step = todo.shift(); step; step = todo.shift()) {
  if (step === 'wait') await until(todo.shift());
  if (step === 'progress') writeFileSync(process.env.ARGO_PROGRESS_FILE, todo.shift());
  if (step === 'result') writeFileSync(process.env.ARC_RESULT_FILE, todo.shift());
  if (step === 'job') log(readFileSync(path.join(process.env.ARC_CONFIG_DIR, 'job.json'), 'utf8'));
  if (step === 'say') writeFileSync(process.env.ARC_TERMINATION_LOG, todo.shift());
  if (step === 'print') console.log(todo.shift());
  if (step === 'once') { const f = path.join(root, 'tries'); const n = existsSync(f); writeFileSync(f, ''); if (!n) { log('end'); process.exit(5); } }
  if (step === 'exit') { log('end'); process.exit(Number(todo.shift())); }
}
log('end');
process.exit(0);
`;

let root: string;
let api: FakeApi;
let live: LiveLogs;
const executors: { control: AbortController; done: Promise<void> }[] = [];
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'executor-'));
  await writeFile(path.join(root, 'program.mjs'), program);
  api = new FakeApi();
  live = createLiveLogs();
});
afterEach(async () => {
  for (const { control, done } of executors.splice(0)) {
    control.abort();
    await done;
  }
  await rm(root, { recursive: true });
});

async function start(over: Partial<ExecutorOptions> = {}): Promise<AbortController> {
  const control = new AbortController();
  const { done } = await startExecutor({
    api: api.client,
    liveLogs: live,
    workFolder: path.join(root, 'runs'),
    claims: path.join(root, 'claims'),
    programs: { 'program:*': [process.execPath, path.join(root, 'program.mjs'), root] },
    signal: control.signal,
    log: pino({ level: 'silent' }),
    graceMs: 5_000,
    progressMs: 20,
    ...over,
  });
  executors.push({ control, done });
  return control;
}
const oneTemplate = (args: string[], over: Partial<Template> = {}): WorkflowSpec => ({
  entrypoint: 't',
  templates: [
    {
      name: 't',
      container: { image: 'program:v1', args: ['{{workflow.name}}', ...args] },
      outputs: {
        parameters: [
          { name: 'result', globalName: 'result', valueFrom: { path: '/tmp/arc/result.json', default: '' } },
        ],
      },
      ...over,
    },
  ],
});
const submit = (name: string, spec: WorkflowSpec, { namespace = 'ns', order = 'x' } = {}) =>
  api.client.create(workflows, {
    apiVersion: workflows.apiVersion,
    kind: 'Workflow',
    metadata: { name, namespace, labels: { 'arc.opendefense.cloud/order': order } },
    spec,
  });
const w = { name: 'w', namespace: 'ns' };
const read = (name: string) => api.client.get(workflows, { name, namespace: 'ns' });
const until = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const completed = (name: string): Promise<Workflow> =>
  until(async () => {
    const workflow = await read(name);
    expect(workflow?.metadata.labels?.['workflows.argoproj.io/completed']).toBe('true');
    if (!workflow) throw new Error(`${name} is gone`);
    return workflow;
  });
const logged = async () => (await readIfThere(path.join(root, 'log'), 10_000))?.trimEnd().split('\n') ?? [];
const saying = (line: string) => until(async () => expect(await logged()).toContain(line));
const release = (file = 'go') => writeFile(path.join(root, file), '');

describe('startExecutor', () => {
  it('runs a Workflow and reports it in the shape of Argo', async () => {
    await start();
    await submit('w', oneTemplate(['progress', '10/10', 'result', '{"ok":1}']));
    const { metadata, status } = await completed('w');
    expect(metadata.labels).toMatchObject({ 'workflows.argoproj.io/phase': 'Succeeded' });
    expect(status).toMatchObject({
      phase: 'Succeeded',
      progress: '10/10',
      startedAt: expect.stringMatching(/Z$/),
      finishedAt: expect.stringMatching(/Z$/),
      outputs: { parameters: [{ name: 'result', value: '{"ok":1}' }] },
      nodes: { w: { type: 'Pod', phase: 'Succeeded', templateName: 't', outputs: { exitCode: '0' } } },
      conditions: expect.arrayContaining([{ type: 'Completed', status: 'True' }]),
    });
    await until(async () => expect(await readdir(path.join(root, 'runs'))).toEqual([]));
  });

  it('resolves a cluster template and mounts its Secret', async () => {
    const [template] = oneTemplate(['job']).templates ?? [];
    await api.client.create(clusterWorkflowTemplates, {
      apiVersion: workflows.apiVersion,
      kind: 'ClusterWorkflowTemplate',
      metadata: { name: 'arc' },
      spec: {
        entrypoint: 't',
        arguments: { parameters: [{ name: 'secret' }] },
        volumes: [{ name: 'config', secret: { secretName: '{{workflow.parameters.secret}}' } }],
        templates: [
          {
            ...template,
            name: 't',
            container: {
              ...template?.container,
              volumeMounts: [{ name: 'config', mountPath: '/etc/arc/config' }],
            },
          },
        ],
      },
    });
    const data = { 'job.json': Buffer.from('the job').toString('base64') };
    await api.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'ns' },
      data,
    });
    await start();
    const ref = { workflowTemplateRef: { name: 'arc', clusterScope: true } };
    await submit('w', { ...ref, arguments: { parameters: [{ name: 'secret', value: 's' }] } });
    expect((await completed('w')).status?.phase).toBe('Succeeded');
    expect(await logged()).toContain('w the job');
    await submit('x', ref);
    expect((await completed('x')).status).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/^invalid spec: /),
    });
  });

  it('says why it failed: exit code and termination message, or the end of the output', async () => {
    await start();
    await submit('said', oneTemplate(['say', 'denied by registry', 'exit', '12']));
    const container = {
      image: 'program:v1',
      args: ['printed', 'print', 'last words', 'exit', '3'],
      terminationMessagePolicy: 'FallbackToLogsOnError',
    };
    await submit('printed', oneTemplate([], { container }));
    const { status } = await completed('said');
    expect(status).toMatchObject({
      phase: 'Failed',
      message: 'main: Error (exit code 12): denied by registry',
      nodes: { said: { phase: 'Failed', outputs: { exitCode: '12' } } },
    });
    expect((await completed('printed')).status?.message).toBe('main: Error (exit code 3): last words');
  });

  it('leaves the pod of each attempt, with its log', async () => {
    await start();
    const data = {
      'job.json': Buffer.from('{"source":{"credentials":{"password":"hunter2"}}}').toString('base64'),
    };
    await api.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'ns' },
      data,
    });
    const args = ['{{workflow.name}}', 'print', 'as hunter2', 'once', 'exit', '0'];
    const volumeMounts = [{ name: 'config', mountPath: '/etc/arc/config' }];
    const retried = oneTemplate([], {
      container: { image: 'program:v1', args, volumeMounts },
      retryStrategy: { limit: 1 },
    });
    await submit('w', { ...retried, volumes: [{ name: 'config', secret: { secretName: 's' } }] });
    const { status, metadata } = await completed('w');
    expect(status?.phase).toBe('Succeeded');
    const failed = Object.values(status?.nodes ?? {}).find(({ phase }) => phase === 'Failed');
    expect(failed?.message).toBe('main: Error (exit code 5)');
    const [first, second] = api
      .all(pods)
      .toSorted((one, other) => `${one.status?.phase}`.localeCompare(`${other.status?.phase}`));
    expect(second?.status).toMatchObject({ phase: 'Succeeded', logs: { main: 'as ***' } });
    expect(first).toMatchObject({
      metadata: {
        name: failed?.id,
        labels: { 'workflows.argoproj.io/workflow': 'w' },
        annotations: { 'workflows.argoproj.io/node-id': failed?.id },
        ownerReferences: [{ kind: 'Workflow', name: 'w', uid: metadata.uid }],
      },
      spec: { containers: [{ name: 'main', volumeMounts }], volumes: [{ secret: { secretName: 's' } }] },
      status: {
        phase: 'Failed',
        logs: { main: 'as ***' },
        containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 5 } } }],
      },
    });
  });

  it('leaves the pod of what was too slow, and none of what was stopped', async () => {
    await start();
    await submit('slow', { ...oneTemplate(['print', 'waiting', 'wait', 'never']), activeDeadlineSeconds: 1 });
    await submit('stopped', oneTemplate(['print', 'waiting', 'wait', 'never']));
    await saying('stopped start');
    await api.client.mergePatch(
      workflows,
      { name: 'stopped', namespace: 'ns' },
      { spec: { shutdown: 'Stop' } },
    );
    await completed('stopped');
    await completed('slow');
    expect(api.all(pods).map(({ metadata }) => metadata.name)).toEqual(['slow']);
  });

  it('shows the pod of what runs, with what it prints', async () => {
    await start({ podAfterMs: 0 });
    await submit('w', oneTemplate(['print', 'waiting', 'wait', 'go']));
    await until(async () => {
      expect(api.all(pods)).toMatchObject([{ metadata: { name: 'w' }, status: { phase: 'Running' } }]);
      expect(live.find(w)?.of('main').text()).toBe('waiting\n');
    });
    await release();
    await completed('w');
    expect(api.all(pods)).toMatchObject([{ status: { phase: 'Succeeded', logs: { main: 'waiting' } } }]);
    expect(live.find(w)).toBeUndefined();
  });

  it('leaves no pod that says it runs: not of what was stopped, not of an executor that died', async () => {
    const first = await start({ podAfterMs: 0 });
    const running = () =>
      until(async () => expect(api.all(pods)).toMatchObject([{ status: { phase: 'Running' } }]));
    await submit('w', oneTemplate(['wait', 'never']));
    await running();
    first.abort();
    await executors[0]?.done;
    await running();
    await api.client.mergePatch(workflows, w, { spec: { shutdown: 'Stop' } });
    await start({ podAfterMs: 0 });
    await completed('w');
    expect(api.all(pods)).toEqual([]);
    await submit('x', oneTemplate(['wait', 'never']));
    await running();
    await api.client.mergePatch(workflows, { ...w, name: 'x' }, { spec: { shutdown: 'Stop' } });
    await completed('x');
    expect(api.all(pods)).toEqual([]);
  });

  it('spares those that wait the pods of what ends soon and well', async () => {
    await start({ parallelism: 1, podAfterMs: 60_000 });
    await submit('a', oneTemplate(['print', 'a', 'wait', 'go']));
    await saying('a start');
    await submit('b', oneTemplate(['print', 'b']));
    await pause(100, new AbortController().signal);
    await release();
    await completed('b');
    expect(api.all(pods).map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it('fails for a missing template, image, Secret or output', async () => {
    await start();
    await submit('a', { workflowTemplateRef: { name: 'none' } });
    await submit('b', oneTemplate([], { container: { image: 'alpine:3' } }));
    await submit('c', { ...oneTemplate([]), volumes: [{ name: 'v', secret: { secretName: 'none' } }] });
    await submit(
      'd',
      oneTemplate([], { outputs: { parameters: [{ name: 'o', valueFrom: { path: '/tmp/arc/none' } }] } }),
    );
    const message = async (name: string) => {
      const { status } = await completed(name);
      return `${status?.phase}: ${status?.message}`;
    };
    expect(await message('a')).toBe('Error: workflowtemplates.argoproj.io "none" not found');
    expect(await message('b')).toMatch(/^Error: main: the image "alpine:3" is mapped to no program/);
    expect(await message('c')).toMatch(/^Error: MountVolume.SetUp failed .* secret "none" not found$/);
    expect(await message('d')).toBe('Error: output parameter "o": /tmp/arc/none is not there');
  });

  it('runs a containerSet in order', async () => {
    await start();
    const containers = [
      { name: 'main', image: 'program:v1', args: ['main'], dependencies: ['prepare'] },
      { name: 'prepare', image: 'program:v1', args: ['prepare'] },
    ];
    await submit('w', { entrypoint: 't', templates: [{ name: 't', containerSet: { containers } }] });
    expect((await completed('w')).status?.phase).toBe('Succeeded');
    expect(await logged()).toEqual(['prepare start', 'prepare end', 'main start', 'main end']);
  });

  it('tries again as the retryStrategy says', async () => {
    await start();
    await submit('w', oneTemplate(['once'], { retryStrategy: { limit: 1 } }));
    const { status } = await completed('w');
    expect(status?.phase).toBe('Succeeded');
    expect(
      Object.values(status?.nodes ?? {})
        .map((node) => `${node.type} ${node.phase}`)
        .sort(),
    ).toEqual(['Pod Failed', 'Pod Succeeded', 'Retry Succeeded']);
  });

  it('shows progress while it runs', async () => {
    await start();
    await submit('w', oneTemplate(['progress', '3/9', 'wait', 'go']));
    await until(async () =>
      expect((await read('w'))?.status).toMatchObject({ phase: 'Running', progress: '3/9' }),
    );
    await release();
    expect((await completed('w')).status?.progress).toBe('9/9');
  });

  it('stops on shutdown, on a deadline and on deletion, also what has not begun', async () => {
    await start({ parallelism: 3 });
    for (const name of ['a', 'b', 'c']) {
      const deadline = name === 'b' ? { activeDeadlineSeconds: 1 } : {};
      await submit(name, { ...oneTemplate(['wait', 'never']), ...deadline });
      await saying(`${name} start`);
    }
    await submit('waiting', oneTemplate(['wait', 'never']));
    await api.client.mergePatch(
      workflows,
      { name: 'waiting', namespace: 'ns' },
      { spec: { shutdown: 'Stop' } },
    );
    await api.client.mergePatch(
      workflows,
      { name: 'a', namespace: 'ns' },
      { spec: { shutdown: 'Terminate' } },
    );
    expect((await completed('a')).status).toMatchObject({
      phase: 'Failed',
      message: "Stopped with strategy 'Terminate'",
      nodes: { a: { message: 'workflow shutdown with strategy:  Terminate' } },
    });
    expect((await completed('waiting')).status?.message).toBe("Stopped with strategy 'Stop'");
    expect((await completed('b')).status).toMatchObject({
      phase: 'Failed',
      message: 'Step exceeded its deadline',
    });
    await api.client.delete(workflows, { name: 'c', namespace: 'ns' });
    await until(async () => expect(await readdir(path.join(root, 'runs'))).toEqual([]));
    expect((await logged()).filter((line) => line.startsWith('waiting'))).toEqual([]);
  });

  it('runs no more at once than it may, and leaves suspended ones alone', async () => {
    await start({ parallelism: 1 });
    await submit('suspended', { ...oneTemplate([]), suspend: true });
    await submit('a', oneTemplate(['wait', 'go']));
    await saying('a start');
    await submit('b', oneTemplate([]));
    await release();
    await completed('b');
    expect(await logged()).toEqual(['a start', 'a end', 'b start', 'b end']);
    expect((await read('suspended'))?.status).toBeUndefined();
    await api.client.mergePatch(
      workflows,
      { name: 'suspended', namespace: 'ns' },
      { spec: { suspend: null } },
    );
    await completed('suspended');
  });

  it('lets namespaces take turns, then their Orders', async () => {
    await start({ parallelism: 1 });
    await submit('first', oneTemplate(['wait', 'go']));
    await saying('first start');
    for (const name of ['x1', 'x2', 'x3', 'x4']) await submit(name, oneTemplate([]));
    await submit('y1', oneTemplate([]), { order: 'y' });
    await submit('other', oneTemplate([]), { namespace: 'ns2' });
    await release();
    await completed('x4');
    const begun = (await logged()).filter((line) => line.endsWith(' start'));
    const names = begun.map((line) => line.split(' ')[0]);
    expect(names).toEqual(['first', 'x1', 'other', 'y1', 'x2', 'x3', 'x4']);
  });

  it('leaves what it did not finish to the next executor, and never runs it twice at once', async () => {
    const first = await start();
    await submit('w', oneTemplate(['wait', 'go']));
    await saying('w start');
    first.abort();
    await executors[0]?.done;
    expect((await read('w'))?.status?.phase).toBe('Running');
    await release();
    await start();
    expect((await completed('w')).status?.phase).toBe('Succeeded');
    expect(await logged()).toEqual(['w start', 'w start', 'w end']);
  });

  it('goes on when the API fails for a while', async () => {
    let failures = 0;
    api.before = ({ verb }) => {
      if (verb === 'patch' && failures++ < 2) throw new ArcError('ServiceUnavailable', 'try later');
    };
    await start();
    await submit('w', oneTemplate([]));
    expect((await completed('w')).status?.phase).toBe('Succeeded');
  });

  it('deletes completed Workflows by their ttlStrategy', async () => {
    await start();
    await submit('w', { ...oneTemplate([]), ttlStrategy: { secondsAfterSuccess: 0 } });
    await submit('kept', { ...oneTemplate([]), ttlStrategy: { secondsAfterFailure: 0 } });
    await completed('kept');
    await until(async () => expect(await read('w')).toBeUndefined());
    expect(await read('kept')).toBeDefined();
  });

  it('survives a leftover in its folder', async () => {
    await mkdir(path.join(root, 'runs', 'old.0'), { recursive: true });
    await start();
    await submit('w', oneTemplate([]));
    await completed('w');
  });
});
