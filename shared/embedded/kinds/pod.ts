import * as z from 'zod';
import type { KindDefinition, KubeObject } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import { isRecord, ownerOfKind } from '#shared/meta';

const free = { 'x-kubernetes-preserve-unknown-fields': true };

/** core/v1 Pod: what is left of a step that failed, with its log. The executor writes them, and nobody else. */
export const pods: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  scope: 'Namespaced',
  description:
    'Pod is what is left of a step of a Workflow that failed, with the end of its log. It goes with its Workflow.',
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
      value: (pod) => `0/${containersOf(pod).length}`,
    },
    {
      name: 'Status',
      type: 'string',
      description: 'Why it ended.',
      value: (pod) => (phaseOf(pod) === 'Failed' ? 'Error' : phaseOf(pod)),
    },
    { name: 'Restarts', type: 'string', description: 'Always 0: Argo starts another pod.', value: () => '0' },
  ],
  selectableFields: { 'status.phase': phaseOf },
  texts: [{ name: 'log', description: 'read log of the specified Pod', read: logOf }],
  hooks: {
    validate(object, old) {
      if (old !== undefined || ownerOfKind(object, 'Workflow') !== undefined) return [];
      const message =
        'Forbidden: the standalone runs Workflows, not pods: it only keeps those of steps that failed';
      return [{ reason: 'FieldValueForbidden', message, field: 'spec' }];
    },
  },
};

const unsupported = ['previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'stream'];

/** The log of a container, by default the first, with `tailLines` and `limitBytes` as the kubelet has them. Throws BadRequest. */
function logOf(pod: KubeObject, query: URLSearchParams): string {
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
  const { logs } = isRecord(pod.status) ? pod.status : {};
  const found = isRecord(logs) ? logs[container] : undefined;
  const kept = typeof found === 'string' ? found : '';
  const lines = kept === '' ? [] : `${kept}\n`.split(/(?<=\n)/);
  const count = countOf(query, 'tailLines', lines.length);
  const end = lines.slice(lines.length - Math.min(count, lines.length)).join('');
  return Buffer.from(end)
    .subarray(0, countOf(query, 'limitBytes', Number.POSITIVE_INFINITY))
    .toString('utf8');
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

function phaseOf({ status }: KubeObject): string {
  return isRecord(status) && typeof status.phase === 'string' ? status.phase : '';
}
