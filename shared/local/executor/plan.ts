import { parse } from 'yaml';
import type {
  Container,
  Parameter,
  Phase,
  RetryStrategy,
  Template,
  Volume,
  Workflow,
  WorkflowSpec,
} from './workflow.ts';

/** One run, with all parameters substituted. */
export interface Plan {
  templateName: string;
  /** In the order of execution: each after its dependencies. */
  containers: PlannedContainer[];
  volumes: Volume[];
  outputs: Parameter[];
  /** Of the whole Workflow, and of one attempt. */
  deadlineSeconds: number | undefined;
  attemptSeconds: number | undefined;
  /** Retries, and after which phases; undefined without a retryStrategy. */
  retry: { limit: number; phases: readonly Phase[] } | undefined;
}

export interface PlannedContainer {
  name: string;
  image: string;
  args: string[];
  env: { name: string; value: string }[];
  mounts: { name: string; mountPath: string }[];
  /** With FallbackToLogsOnError, a failure without a termination message gets the end of the output. */
  terminationMessagePolicy?: string;
}

export type Planned = { ok: true; plan: Plan } | { ok: false; phase: 'Failed' | 'Error'; message: string };

/** Thrown within this file for an invalid spec in Argo's terms. */
class InvalidSpec extends Error {}

/**
 * Plans the single pod of a Workflow: its spec merged over that of the referenced template (undefined without a reference),
 * parameters substituted once, values never evaluated again. Errors are in Argo's words.
 */
export function planWorkflow(workflow: Workflow, referred: WorkflowSpec | undefined): Planned {
  try {
    const spec = merged(workflow.spec, referred);
    const scope = workflowScope(workflow, spec.arguments?.parameters ?? []);
    return { ok: true, plan: planOf(spec, scope) };
  } catch (caught) {
    if (!(caught instanceof InvalidSpec)) throw caught;
    return { ok: false, phase: 'Failed', message: `invalid spec: ${caught.message}` };
  }
}

/** Merges two specs: the Workflow's own fields win; arguments and volumes are merged by name. */
function merged(own: WorkflowSpec, referred: WorkflowSpec | undefined): WorkflowSpec {
  if (referred === undefined) return own;
  const parameters = byName(referred.arguments?.parameters, own.arguments?.parameters);
  return { ...referred, ...own, arguments: { parameters }, volumes: byName(referred.volumes, own.volumes) };
}

function byName<T extends { name: string }>(base: readonly T[] = [], over: readonly T[] = []): T[] {
  return [...new Map([...base, ...over].map((one) => [one.name, one])).values()];
}

type Scope = ReadonlyMap<string, string>;

function workflowScope(workflow: Workflow, parameters: readonly Parameter[]): Scope {
  const { name, namespace = '', uid = '' } = workflow.metadata;
  const scope = new Map([
    ['workflow.name', name],
    ['workflow.namespace', namespace],
    ['workflow.uid', uid],
  ]);
  for (const { name: parameter, value } of parameters) {
    // Argo honours only `value` here, not `default`.
    if (value === undefined || value === null)
      throw new InvalidSpec(`spec.arguments.${parameter}.value is required`);
    scope.set(`workflow.parameters.${parameter}`, value);
  }
  return scope;
}

function planOf(spec: WorkflowSpec, global: Scope): Plan {
  if (!spec.entrypoint) throw new InvalidSpec('spec.entrypoint is required');
  const found = spec.templates?.find((one) => one.name === spec.entrypoint);
  if (found === undefined) throw new InvalidSpec(`template name '${spec.entrypoint}' undefined`);
  const scope = withInputs(found, global);
  const template = substitute(found, scope, `templates.${found.name}`);
  const volumes = substitute(spec.volumes ?? [], scope, 'spec.volumes');
  const shared = template.containerSet?.volumeMounts ?? [];
  const containers = template.container
    ? [{ name: 'main', ...template.container }]
    : inOrder(template.containerSet?.containers ?? [], template.name);
  if (containers.length === 0)
    throw new InvalidSpec(`templates.${template.name}: template has no containers`);
  return {
    templateName: template.name,
    containers: containers.map((one) => planContainer(one, shared)),
    volumes: byName(byName(volumes, template.volumes), patchedVolumes(spec, scope)),
    outputs: template.outputs?.parameters ?? [],
    deadlineSeconds: spec.activeDeadlineSeconds ?? undefined,
    attemptSeconds: numberOf(template.activeDeadlineSeconds),
    retry: retryOf(template.retryStrategy ?? spec.retryStrategy),
  };
}

/** Returns the volumes that podSpecPatch adds to the pod. The rest of the patch does not apply to a process. */
function patchedVolumes({ podSpecPatch = '' }: WorkflowSpec, scope: Scope): Volume[] {
  const text = substitute(podSpecPatch, scope, 'spec.podSpecPatch');
  let patch: { volumes?: Volume[] } | null;
  try {
    patch = parse(text);
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new InvalidSpec(`spec.podSpecPatch: ${why}`);
  }
  return patch?.volumes ?? [];
}

/** Argo's policies: OnFailure (the default), OnError, Always. Without a limit Argo retries forever; here ten times. */
function retryOf(strategy: RetryStrategy | undefined): Plan['retry'] {
  if (strategy === undefined) return undefined;
  const limit = numberOf(strategy.limit) ?? 10;
  const phases: Record<string, readonly Phase[]> = { OnError: ['Error'], Always: ['Failed', 'Error'] };
  return { limit, phases: phases[strategy.retryPolicy ?? ''] ?? ['Failed'] };
}

function planContainer(
  container: Container,
  shared: { name: string; mountPath: string }[],
): PlannedContainer {
  const { terminationMessagePolicy } = container;
  return {
    name: container.name ?? 'main',
    image: container.image ?? '',
    args: container.args ?? [],
    env: (container.env ?? []).map(({ name, value }) => ({ name, value: value ?? '' })),
    mounts: [...shared, ...(container.volumeMounts ?? [])],
    ...(terminationMessagePolicy !== undefined && { terminationMessagePolicy }),
  };
}

/** Returns the entrypoint's inputs: the Workflow's arguments of the same names, their own values, or their defaults. */
function withInputs(template: Template, global: Scope): Scope {
  const scope = new Map(global);
  for (const { name, value, default: fallback } of template.inputs?.parameters ?? []) {
    const found = global.get(`workflow.parameters.${name}`) ?? value ?? fallback;
    if (found === undefined || found === null) {
      throw new InvalidSpec(`templates.${template.name} inputs.parameters.${name} was not supplied`);
    }
    scope.set(`inputs.parameters.${name}`, found);
  }
  return scope;
}

/** Returns a copy with every `{{name}}` in every text replaced; substituted text is not evaluated again. */
function substitute<T>(value: T, scope: Scope, where: string): T {
  return walk(value, (text) =>
    text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (whole, name: string) => {
      const found = scope.get(name);
      if (found === undefined) throw new InvalidSpec(`${where}: failed to resolve ${whole}`);
      return found;
    }),
  ) as T;
}

function walk(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => walk(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, change)]));
}

/** Orders the containers of a set: each after its dependencies, otherwise as written. */
function inOrder(containers: readonly Container[], template: string): Container[] {
  const left = [...containers];
  const done = new Set<string>();
  const ordered: Container[] = [];
  while (left.length > 0) {
    const next = left.findIndex((one) => (one.dependencies ?? []).every((name) => done.has(name)));
    const [container] = next < 0 ? [] : left.splice(next, 1);
    if (!container)
      throw new InvalidSpec(`templates.${template}.containerSet: dependencies have a cycle or name nothing`);
    done.add(container.name ?? 'main');
    ordered.push(container);
  }
  return ordered;
}

function numberOf(value: number | string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0) throw new InvalidSpec(`"${value}" is not a count`);
  return number;
}
