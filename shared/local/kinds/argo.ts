import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ArcError, type Cause } from '#shared/base/errors';
import type { Column, KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';
import { parseSchedule } from './schedule.ts';
import { unsupportedFields } from './supported.ts';
import { parseWhen } from './when.ts';

const argo = { group: 'argoproj.io', version: 'v1alpha1', status: false } as const;
const free = { 'x-kubernetes-preserve-unknown-fields': true };

const parameter = z.looseObject({ name: z.string(), value: z.string().nullish() });
const workflowSpec = z
  .looseObject({
    entrypoint: z.string().optional(),
    arguments: z.looseObject({ parameters: z.array(parameter).optional() }).optional(),
    templates: z.array(z.looseObject({ name: z.string() }).meta(free)).optional(),
    workflowTemplateRef: z.object({ name: z.string(), clusterScope: z.boolean().optional() }).optional(),
    shutdown: z.enum(['Stop', 'Terminate', '']).optional(),
    suspend: z.boolean().optional(),
    activeDeadlineSeconds: z.int().min(0).nullish(),
  })
  .meta(free);
const status = z.looseObject({}).meta(free).optional();

const phase: Column = {
  name: 'Status',
  type: 'string',
  description: 'Pending, Running, Succeeded, Failed or Error.',
  value: (object) => text(statusOf(object).phase),
};
const progress: Column = {
  name: 'Progress',
  type: 'string',
  description: 'Done of all, in bytes or tasks.',
  value: (object) => text(statusOf(object).progress),
};
const message: Column = {
  name: 'Message',
  type: 'string',
  description: 'Why it is in this state.',
  value: (object) => text(statusOf(object).message),
};

/** argoproj.io Workflow: as in Argo's CRDs, status is written through the main resource. */
export const workflows: KindDefinition = {
  ...argo,
  kind: 'Workflow',
  plural: 'workflows',
  singular: 'workflow',
  shortNames: ['wf'],
  scope: 'Namespaced',
  description: 'Workflow is one run of a template.',
  schema: z.object({ spec: workflowSpec, status }),
  columns: [phase, progress, message],
  hooks: {
    validate: (object, old) =>
      specCauses(object, old, (spec) => [...unsupportedFields(spec, 'spec'), ...refCauses(spec)]),
  },
};

function template(
  kind: string,
  scope: KindDefinition['scope'],
  shortNames: string[],
  where: string,
): KindDefinition {
  return {
    ...argo,
    kind,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames,
    scope,
    description: `${kind} is a definition of Workflows, used by those ${where}.`,
    schema: z.object({ spec: workflowSpec }),
    columns: [],
    hooks: { validate: (object, old) => specCauses(object, old, (spec) => unsupportedFields(spec, 'spec')) },
  };
}

export const workflowTemplates = template('WorkflowTemplate', 'Namespaced', ['wftmpl'], 'of its namespace');
export const clusterWorkflowTemplates = template(
  'ClusterWorkflowTemplate',
  'Cluster',
  ['clusterwftmpl', 'cwft'],
  'of every namespace',
);

/** argoproj.io CronWorkflow; the controller of the standalone is in ../cron. */
export const cronWorkflows: KindDefinition = {
  ...argo,
  kind: 'CronWorkflow',
  plural: 'cronworkflows',
  singular: 'cronworkflow',
  shortNames: ['cwf', 'cronwf'],
  scope: 'Namespaced',
  description: 'CronWorkflow starts Workflows by a schedule.',
  schema: z.object({
    spec: z
      .looseObject({
        schedule: z.string().optional(),
        schedules: z.array(z.string()).optional(),
        timezone: z.string().optional(),
        suspend: z.boolean().optional(),
        startingDeadlineSeconds: z.int().min(0).nullish(),
        concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace', '']).optional(),
        successfulJobsHistoryLimit: z.int().min(0).nullish(),
        failedJobsHistoryLimit: z.int().min(0).nullish(),
        workflowSpec,
      })
      .meta(free),
    status,
  }),
  columns: [
    {
      name: 'Schedule',
      type: 'string',
      description: 'When it starts.',
      value: (object) => schedulesOf(object).join(', '),
    },
    {
      name: 'Suspended',
      type: 'boolean',
      description: 'True: it starts nothing.',
      value: (object) => specOf(object).suspend === true,
    },
  ],
  hooks: {
    validate: (object, old) =>
      specCauses(object, old, (spec) => [
        ...unsupportedFields(spec.workflowSpec, 'spec.workflowSpec'),
        ...scheduleCauses(object),
      ]),
  },
};

/** What the standalone cannot evaluate of a schedule: `stopStrategy`, a `when` that it cannot parse, a schedule that is none. */
function scheduleCauses(object: KubeObject): Cause[] {
  const { timezone, when, stopStrategy } = specOf(object);
  const stop =
    stopStrategy === undefined || stopStrategy === ''
      ? []
      : [
          {
            reason: 'FieldValueNotSupported',
            message: 'Unsupported value: the standalone does not evaluate it',
            field: 'spec.stopStrategy',
          },
        ];
  const condition =
    typeof when === 'string' && when !== '' ? unreadable(when, 'spec.when', () => parseWhen(when)) : [];
  const zone = typeof timezone === 'string' ? timezone : undefined;
  const schedules = schedulesOf(object).flatMap((text) =>
    unreadable(text, 'spec.schedules', () => parseSchedule(text, zone)),
  );
  return [...stop, ...condition, ...schedules];
}

function unreadable(text: string, field: string, parse: () => unknown): Cause[] {
  try {
    parse();
    return [];
  } catch (caught) {
    const message = `Invalid value: ${JSON.stringify(text)}: ${ArcError.from(caught).message}`;
    return [{ reason: 'FieldValueInvalid', message, field }];
  }
}

type Spec = Record<string, unknown>;

/** Only a new spec is validated: a stricter rule must not block later writes of status or finalizers. */
function specCauses(
  object: KubeObject,
  old: KubeObject | undefined,
  check: (spec: Spec) => Cause[],
): Cause[] {
  return old && isDeepStrictEqual(object.spec, old.spec) ? [] : check(specOf(object));
}

function refCauses(spec: Spec): Cause[] {
  if (spec.workflowTemplateRef === undefined && spec.templates === undefined) {
    return [
      {
        reason: 'FieldValueRequired',
        message: 'Required value: templates or workflowTemplateRef',
        field: 'spec',
      },
    ];
  }
  if (spec.workflowTemplateRef === undefined || spec.templates === undefined) return [];
  const text = 'Forbidden: templates cannot stand beside workflowTemplateRef';
  return [{ reason: 'FieldValueForbidden', message: text, field: 'spec.templates' }];
}

function schedulesOf(object: KubeObject): string[] {
  const { schedule, schedules } = specOf(object);
  return [
    ...(typeof schedule === 'string' ? [schedule] : []),
    ...(Array.isArray(schedules) ? schedules.map(String) : []),
  ];
}

function specOf(object: KubeObject): Spec {
  return (object.spec ?? {}) as Spec;
}

function statusOf(object: KubeObject): Spec {
  return (object.status ?? {}) as Spec;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
