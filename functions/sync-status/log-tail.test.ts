import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { settingsMap } from '#shared/conduit/function-kit';
import { artifactWorkflows, events, type KubeEvent, type Pod, type WorkflowStatus } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const submitted = artifactWorkflow(name, {
  status: { attempts: 1, workflowRef: { kind: 'Workflow', name, attempt: 1 } },
});
const message = 'main: Error (exit code 1)';
const node = { id: name, name, displayName: name, type: 'Pod', phase: 'Failed', message };

function failed(more: WorkflowStatus = {}) {
  return workflowOf(submitted, name, { phase: 'Failed', message, nodes: { [name]: node }, ...more });
}

function pod(podName: string, nodeId: string, volumes: NonNullable<Pod['spec']>['volumes'] = []): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName,
      namespace,
      labels: { 'workflows.argoproj.io/workflow': name },
      annotations: { 'workflows.argoproj.io/node-id': nodeId },
    },
    spec: {
      containers: [{ name: 'main', volumeMounts: [{ name: 'config' }] }, { name: 'wait' }],
      volumes,
    },
    status: {
      phase: 'Failed',
      containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 1 } } }],
    },
  };
}

const plain = pod('p', name);
const log = `${Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;

function apiOf(...objects: ConstructorParameters<typeof FakeApi>[0] & object[]) {
  const api = new FakeApi([submitted, ...objects]);
  api.logs.set('p', log);
  return api;
}

async function run(api: FakeApi, data: Record<string, string> = {}): Promise<string> {
  api.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...settingsMap }, data });
  await handle(contextOf(api), eventOf(submitted));
  return api.read(artifactWorkflows, { namespace, name })?.status?.message ?? '';
}

const asked = (api: FakeApi) =>
  api.requests
    .filter(({ resource }) => resource === 'pods')
    .map(({ verb, subresource }) => subresource ?? verb);

describe('the log of a step that failed', () => {
  it('ends its message: 30 lines, read once', async () => {
    const api = apiOf(failed(), pod('other', 'another-node'), plain);
    const lines = (await run(api)).split('\n');
    expect(lines.slice(0, 3)).toEqual([message, 'the log of pod "p" ends with:', 'line 11']);
    expect(lines.at(-1)).toBe('line 40');
    await run(api);
    expect(asked(api)).toEqual(['list', 'log']);
  });

  it('is told in one line where there is room for one', async () => {
    const api = apiOf(failed(), plain);
    await run(api);
    const [event] = api.all<KubeEvent>(events);
    expect(event?.message).toBe(`${message} … line 40`);
    const { conditions } = api.read(artifactWorkflows, { namespace, name })?.status ?? {};
    expect(conditions?.map((one) => one.message)).toEqual(['', '', `${message} … line 40`]);
  });

  it('is as long as the operator says, or is not read', async () => {
    const short = await run(apiOf(failed(), plain), { 'logTail.lines': '2' });
    expect(short.split('\n').slice(2)).toEqual(['line 39', 'line 40']);
    const api = apiOf(failed(), plain);
    expect(await run(api, { 'features.logTail': 'off' })).toBe(message);
    expect(asked(api)).toEqual([]);
  });

  it('is not read where it does not help', async () => {
    const result = JSON.stringify({ outcome: 'failed', message: 'the image is not there' });
    const reported = failed({ outputs: { parameters: [{ name: 'result', value: result }] } });
    const stopped = { ...failed(), spec: { shutdown: 'Terminate' as const } };
    const running = workflowOf(submitted, name, { phase: 'Running', message: 'Pulling' });
    for (const one of [reported, stopped, running, failed({ nodes: {} })]) {
      const api = apiOf(one, plain);
      await run(api);
      expect(asked(api)).toEqual([]);
    }
  });

  it('is left where a Secret may be in it, and the message says where', async () => {
    const api = apiOf(failed(), pod('p', name, [{ name: 'config', secret: { secretName: 's' } }]));
    expect(await run(api)).toBe(
      `${message}; the step can read a Secret, so its log is not quoted here: kubectl logs -n ${namespace} p -c main`,
    );
    expect(asked(api)).toEqual(['list']);
  });

  it('is done without where there is no pod, no right, or no answer', async () => {
    expect(await run(apiOf(failed()))).toBe(message);
    for (const failure of [new ArcError('Forbidden', 'no'), new Error('broken off')])
      for (const at of ['list', 'log']) {
        const api = apiOf(failed(), plain);
        api.before = ({ resource, verb, subresource }) => {
          if (resource === 'pods' && (subresource ?? verb) === at) throw failure;
        };
        expect(await run(api)).toBe(message);
      }
  });

  it('is read again for the next attempt, though it fails in the same way', async () => {
    const api = apiOf(failed(), plain);
    const first = await run(api);
    const second = `${name}-2`;
    const stored = api.read(artifactWorkflows, { namespace, name }) ?? submitted;
    api.put({
      ...stored,
      status: { ...stored.status, attempts: 2, workflowRef: { kind: 'Workflow', name: second, attempt: 2 } },
    });
    const again = workflowOf(submitted, second, {
      phase: 'Failed',
      message,
      nodes: { [second]: { ...node, id: second } },
    });
    api.put(again);
    const own = pod('p2', second);
    api.put({ ...own, metadata: { ...own.metadata, labels: { 'workflows.argoproj.io/workflow': second } } });
    api.logs.set('p2', 'another line\n');
    const next = await run(api);
    expect(next).not.toBe(first);
    expect(next.split('\n').at(-1)).toBe('another line');
  });
});
