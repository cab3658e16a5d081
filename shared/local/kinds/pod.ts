import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import { isRecord, ownerOfKind } from '#shared/base/meta';
import type { KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';
import type { LiveLogs, PodLogs } from './live-logs.ts';

const free = { 'x-kubernetes-preserve-unknown-fields': true };

/** core/v1 Pod: a step of a Workflow, while it runs and afterwards, with its log. The executor writes them, and nobody else. */
export const podKind = (live: LiveLogs): KindDefinition => ({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  scope: 'Namespaced',
  description:
    'Pod is a step of a Workflow that runs or has ended, with the end of its log. It goes with its Workflow.',
  schema: z.object({
    spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() }).meta(free)) }).meta(free),
    status: z
      .looseObject({
        phase: z.string().optional(),
        logs: z.record(z.string(), z.string()).optional().describe('What each container has printed last.'),
      })
      .meta(free)
      .optional(),
  }),
  status: false,
  columns: [
    {
      name: 'Ready',
      type: 'string',
      description: 'Containers that are ready.',
      value: (pod) => `${readyOf(pod)}/${containersOf(pod).length}`,
    },
    {
      name: 'Status',
      type: 'string',
      description: 'Whether it runs, or how it ended.',
      value: (pod) => shownPhases[phaseOf(pod)] ?? phaseOf(pod),
    },
    { name: 'Restarts', type: 'string', description: 'Always 0: Argo starts another pod.', value: () => '0' },
  ],
  selectableFields: { 'status.phase': phaseOf },
  texts: [
    {
      name: 'log',
      description: 'read log of the specified Pod',
      options: [
        { name: 'follow', type: 'string', description: 'true: what is printed from now on, too.' },
        { name: 'container', type: 'string', description: 'Whose log. Default: the first container.' },
        { name: 'limitBytes', type: 'integer', description: 'At most this many bytes.' },
        { name: 'tailLines', type: 'integer', description: 'Only this many lines, the last ones.' },
      ],
      read: (pod, query) => logOf(pod, query, live.find(pod.metadata)),
      follow: (pod, query) => followed(pod, query, live.find(pod.metadata)),
    },
  ],
  hooks: {
    validate(object, old) {
      if (old !== undefined || ownerOfKind(object, 'Workflow') !== undefined) return [];
      const message = 'Forbidden: the standalone runs Workflows, not pods: it only shows their steps as pods';
      return [{ reason: 'FieldValueForbidden', message, field: 'spec' }];
    },
  },
});

const shownPhases: Readonly<Record<string, string>> = { Failed: 'Error', Succeeded: 'Completed' };

const unsupported = ['previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'stream'];

/** The log of a container, by default the first, with `tailLines` and `limitBytes` as the kubelet has them. Throws BadRequest. */
function logOf(pod: KubeObject, query: URLSearchParams, live: PodLogs | undefined): string {
  const container = containerOf(pod, query);
  const kept = live?.of(container).text() ?? keptLog(pod, container);
  const lines = kept === '' ? [] : kept.split(/(?<=\n)/);
  const count = countOf(query, 'tailLines', lines.length);
  const end = lines.slice(lines.length - Math.min(count, lines.length)).join('');
  return cut(end, countOf(query, 'limitBytes', Number.POSITIVE_INFINITY));
}

/** The same while it is written; undefined for a pod that has ended. */
function followed(pod: KubeObject, query: URLSearchParams, live: PodLogs | undefined) {
  const log = live?.of(containerOf(pod, query));
  const count = countOf(query, 'tailLines', Number.POSITIVE_INFINITY);
  const limit = countOf(query, 'limitBytes', Number.POSITIVE_INFINITY);
  return log && ((signal: AbortSignal) => upTo(limit, log.follow(count, signal)));
}

async function* upTo(limit: number, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  let left = limit;
  for await (const piece of pieces) {
    yield cut(piece, left);
    left -= Buffer.byteLength(piece);
    if (left <= 0) return;
  }
}

function cut(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString('utf8');
}

/** The container that is asked for. Throws BadRequest for it and for options that are not served. */
function containerOf(pod: KubeObject, query: URLSearchParams): string {
  for (const name of unsupported)
    if (!['', 'false', null].includes(query.get(name)))
      throw new ArcError(
        'BadRequest',
        `${name} is not supported: the standalone keeps the end of the last log`,
      );
  const names = containersOf(pod);
  const container = query.get('container') || (names[0] ?? '');
  if (!names.includes(container))
    throw new ArcError('BadRequest', `container ${container} is not valid for pod ${pod.metadata.name}`);
  return container;
}

function keptLog({ status }: KubeObject, container: string): string {
  const { logs } = isRecord(status) ? status : {};
  const found = isRecord(logs) ? logs[container] : undefined;
  return typeof found === 'string' && found !== '' ? `${found}\n` : '';
}

function countOf(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name) ?? '';
  if (text === '') return otherwise;
  if (!/^\d{1,12}$/.test(text))
    throw new ArcError('BadRequest', `${name}: ${JSON.stringify(text)} is no count`);
  return Number(text);
}

function containersOf({ spec }: KubeObject): string[] {
  const containers = isRecord(spec) && Array.isArray(spec.containers) ? spec.containers : [];
  return containers.flatMap((one) => (isRecord(one) && typeof one.name === 'string' ? [one.name] : []));
}

function readyOf({ status }: KubeObject): number {
  const { containerStatuses } = isRecord(status) ? status : {};
  const statuses = Array.isArray(containerStatuses) ? containerStatuses : [];
  return statuses.filter((one) => isRecord(one) && one.ready === true).length;
}

function phaseOf({ status }: KubeObject): string {
  return isRecord(status) && typeof status.phase === 'string' ? status.phase : '';
}
