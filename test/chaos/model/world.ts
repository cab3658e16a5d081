import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Fn, StepEvent } from '#shared/conduit/runtime';
import {
  artifactWorkflows,
  type CronWorkflow,
  cronWorkflows,
  endpoints,
  isDeleting,
  isUnreleased,
  labels,
  orders,
  type Ref,
  secrets,
  type Workflow,
  workflows,
} from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import { functions } from '../../../scripts/standalone/functions.ts';
import { contextOf, eventOf } from '../../../shared/conduit/runtime/testing/handler-context.ts';
import { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { directClient } from './direct-client.ts';
import { Killed, Turns } from './turns.ts';

const called: Readonly<Record<string, readonly string[]>> = {
  Order: ['decompose-order', 'roll-up-order'],
  ArtifactWorkflow: ['render-secret', 'submit-workflow', 'sync-status'],
  Endpoint: ['track-credentials'],
};
const start = Date.parse('2026-01-01T00:00:00Z');

/** One event on its way to one function. */
export interface Delivery {
  name: string;
  fn: Fn;
  event: StepEvent;
}

/** A delivery under way. */
export interface Work {
  delivery: Delivery;
  done: Promise<void>;
  over: boolean;
}

/**
 * Every function on one API, with what Argo and the garbage collector do, and nothing that happens by itself: who asks for
 * it decides what is delivered, what is executed next, and who is killed.
 */
export class World {
  readonly kube = new FakeApi();
  readonly client = directClient(this.kube);
  readonly turns = new Turns(this.client);
  readonly #context = contextOf(this.kube);
  /** What must never be, and was. */
  readonly broken: string[] = [];
  /** Workflows that were let run, by name, each as often as it was. */
  readonly submitted: string[] = [];
  readonly #released = new Set<string>();
  /** What the destination holds: the image that was pushed last, by place. */
  readonly registry = new Map<string, string>();
  /** Images whose Workflows fail, and how many times. */
  readonly failures = new Map<string, number>();
  #ms = start;
  #writes = 0;
  #ends = 0;
  /** Called after each write of a function. */
  onWrite: (count: number, work: object) => void = () => undefined;

  constructor(...objects: KubeObject[]) {
    for (const object of objects) this.kube.put(object);
    let seen = 0;
    this.turns.onCall = ({ owner, isWrite }) => {
      for (const { apiVersion, name, namespace = '' } of this.kube.writes.slice(seen)) {
        if (apiVersion === workflows.apiVersion) this.#judge({ name, namespace });
      }
      seen = this.kube.writes.length;
      if (!isWrite) return;
      this.#writes += 1;
      this.onWrite(this.#writes, owner);
    };
  }

  /** How many calls of functions were writes. */
  get writes(): number {
    return this.#writes;
  }

  /** Some seconds pass. */
  pass(seconds = 1): void {
    this.#ms += seconds * 1000;
    this.kube.time = this.now().toISOString().replace('.000Z', 'Z');
  }

  now(): Date {
    return new Date(this.#ms);
  }

  /** Every function for every object there is. */
  deliveries(): Delivery[] {
    return [endpoints, orders, artifactWorkflows].flatMap((kind) =>
      this.kube.all<KubeObject>(kind as Ref<KubeObject>).flatMap((object) =>
        (called[object.kind] ?? []).flatMap((name) => {
          const fn = functions[name];
          return fn === undefined ? [] : [{ name, fn, event: eventOf(object) }];
        }),
      ),
    );
  }

  /** Starts to handle an event; the calls it makes wait for their turns. */
  begin(delivery: Delivery): Work {
    const work: Work = { delivery, done: Promise.resolve(), over: false };
    const context = { ...this.#context, now: this.now(), api: this.turns.clientOf(work) };
    work.done = this.#handle(delivery, context).finally(() => {
      work.over = true;
    });
    return work;
  }

  async #handle({ name, fn, event }: Delivery, context: Parameters<Fn['handle']>[0]): Promise<void> {
    try {
      await fn.handle(context, event);
    } catch (caught) {
      if (caught instanceof Killed || ArcError.is(caught, 'Conflict')) return;
      // A handler may fail with what its killed client said in another of its calls.
      if (ArcError.from(caught).message === '') return;
      this.broken.push(`${name} failed: ${ArcError.from(caught).code} ${ArcError.from(caught).message}`);
    }
  }

  /** Executes whatever waits, call by call. */
  async finish(afterCall: () => Promise<void> = async () => undefined): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.turns.waiting > 0) {
      await this.turns.take(0);
      await afterCall();
    }
  }

  /** Argo's part: each Workflow gets one step on. True if there was one. */
  argo(): boolean {
    let moved = false;
    for (const cron of this.kube.all(cronWorkflows)) moved = this.#schedule(cron) || moved;
    for (const one of this.kube.all(workflows)) moved = this.#run(one) || moved;
    return moved;
  }

  #run(one: Workflow): boolean {
    const { phase } = one.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') return false;
    const time = this.kube.time;
    if (one.spec.suspend && !one.spec.shutdown) return false;
    if (phase !== 'Running' && !one.spec.shutdown) {
      this.kube.put({ ...one, status: { phase: 'Running', startedAt: time } });
      return true;
    }
    const image = imageOf(one);
    const left = this.failures.get(image) ?? 0;
    if (left > 0) this.failures.set(image, left - 1);
    const end = one.spec.shutdown || left > 0 ? 'Failed' : 'Succeeded';
    if (end === 'Succeeded') this.registry.set(placeOf(one), image);
    this.kube.put({
      ...one,
      status: { ...one.status, phase: end, finishedAt: time, message: `end ${++this.#ends}` },
    });
    return true;
  }

  #schedule(cron: CronWorkflow): boolean {
    const { active = [], succeeded = 0 } = cron.status ?? {};
    const run = active?.[0] && this.kube.read(workflows, { ...cron.metadata, name: active[0].name });
    if (run?.status?.phase === 'Succeeded' || run?.status?.phase === 'Failed') {
      this.kube.put({ ...cron, status: { ...cron.status, active: [], succeeded: succeeded + 1 } });
      return true;
    }
    if (run || cron.spec.suspend || succeeded >= 2) return false;
    const name = `${cron.metadata.name}-${succeeded}`;
    const { namespace = '', uid = '' } = cron.metadata;
    const marks = cron.spec.workflowMetadata?.labels ?? {};
    const owner = { apiVersion: cron.apiVersion, kind: cron.kind, name: cron.metadata.name, uid };
    const metadata = { name, namespace, labels: marks, ownerReferences: [owner] };
    this.kube.put({ apiVersion: cron.apiVersion, kind: 'Workflow', metadata, spec: cron.spec.workflowSpec });
    this.kube.put({
      ...cron,
      status: { ...cron.status, active: [{ name }], lastScheduledTime: this.kube.time },
    });
    return true;
  }

  /** The garbage collector's part: what has owners and none of them is there goes. True if there was something. */
  async collect(): Promise<boolean> {
    const all = this.#everything();
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    let found = false;
    for (const { metadata, kind } of all) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || owners.some(({ uid }) => uids.has(uid)) || isDeleting({ metadata }))
        continue;
      await this.client.delete(kindOf(kind), metadata);
      found = true;
    }
    return found;
  }

  #everything(): KubeObject[] {
    return kinds.flatMap((kind) => this.kube.all<KubeObject>(kind));
  }

  /** Everything is delivered again and again until nothing changes any more. */
  async settle(afterCall?: () => Promise<void>): Promise<void> {
    for (let round = 0; await this.round(afterCall); round += 1)
      if (round > 80) throw new Error('it does not come to rest');
  }

  /** Everything is delivered once, one after the other, and Argo and the garbage collector do a step. True if anything changed. */
  async round(afterCall?: () => Promise<void>): Promise<boolean> {
    const before = this.#writes;
    this.pass(30);
    for (const delivery of this.deliveries()) {
      const work = this.begin(delivery);
      await this.finish(afterCall);
      await work.done;
    }
    const moved = this.argo();
    const collected = await this.collect();
    return moved || collected || this.#writes > before;
  }

  /** A Workflow has just been written. If that let it run, no other of its artifact or target may run that has not ended. */
  #judge(key: Key): void {
    const made = [...this.kube.all(workflows), ...this.kube.all(cronWorkflows)];
    const ours = made.filter((other) => other.metadata.ownerReferences?.[0]?.kind === 'ArtifactWorkflow');
    const released = ours.filter((other) => other.metadata.name === key.name && !isUnreleased(other));
    const [one] = released.filter(({ metadata }) => !this.#released.has(metadata.uid ?? ''));
    if (one === undefined) return;
    this.#released.add(one.metadata.uid ?? '');
    this.submitted.push(key.name);
    const artifactOf = ({ metadata }: Workflow | CronWorkflow) => metadata.labels?.[labels.artifact];
    const others = ours.filter(
      (other) =>
        (artifactOf(other) === artifactOf(one) || placeOf(other) === placeOf(one)) &&
        other.metadata.name !== key.name &&
        !isUnreleased(other) &&
        !isOver(other),
    );
    for (const other of others) this.broken.push(`${key.name} was let run while ${other.metadata.name} ran`);
  }
}

const kinds = [
  endpoints,
  orders,
  artifactWorkflows,
  workflows,
  cronWorkflows,
  secrets,
] as readonly Ref<KubeObject>[];

function kindOf(kind: string): Ref<KubeObject> {
  const found = kinds.find((one) => one.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return found;
}

function isOver(one: Workflow | CronWorkflow): boolean {
  const phase = one.kind === 'Workflow' ? (one as Workflow).status?.phase : undefined;
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Error';
}

/** Where the Workflow writes to at the destination. */
function placeOf(one: Workflow | CronWorkflow): string {
  return parameterOf(one, 'specOverride') || imageOf(one);
}

function parameterOf(one: Workflow | CronWorkflow, wanted: string): string {
  const spec = 'workflowSpec' in one.spec ? one.spec.workflowSpec : one.spec;
  return (spec as Workflow['spec']).arguments?.parameters?.find(({ name }) => name === wanted)?.value ?? '';
}

function imageOf(one: Workflow | CronWorkflow): string {
  return parameterOf(one, 'specImage');
}
