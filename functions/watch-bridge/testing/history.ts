import type { KubeObject } from '#shared/base/meta';
import { annotations, finalizers, labels } from '#shared/domain';
import { fc } from '../../../shared/base/testing/index.ts';
import { artifactWorkflow, endpoint, ociType, order } from '../../../shared/domain/testing/objects.ts';
import type { Observed } from '../view/kept.ts';

/** One step of a history; `which` and `how` choose among the objects at that time. */
export interface Step {
  what: (typeof steps)[number];
  which: number;
  how: number;
}

const steps = [
  ...['order', 'status', 'workflow', 'by hand', 'phase', 'phase', 'phase', 'refused', 'limited'],
  ...['cancel', 'rerun', 'delete', 'gone', 'gone', 'run', 'run', 'endpoint', 'endpoint', 'slots'],
  ...['type', 'template', 'account', 'secret', 'hand over'],
] as const;

export const histories: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ what: fc.constantFrom(...steps), which: fc.nat(99), how: fc.nat(99) }),
  { minLength: 40, maxLength: 120 },
);

const date = '2026-01-02T03:04:05Z';
const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Error', 'Stopped', 'Cancelled', 'Active'];

type Loose = KubeObject & { spec: Record<string, unknown>; status?: Record<string, unknown> };

/** Some Orders that share Endpoints, places and limits, with their objects; each step changes one object, as its writers might. */
export class World {
  readonly objects = new Map<string, Observed>();
  #version = 0;
  readonly #show: (object: Observed, gone: boolean, before: Observed | undefined) => void;

  /** @param show called with the new and the previous state of each changed object, and with the last state of a deleted object */
  constructor(show: (object: Observed, gone: boolean, before: Observed | undefined) => void) {
    this.#show = show;
    for (const name of ['source', 'destination', 'third'])
      this.#put(endpoint(name, { secretRef: { name: `login-${name}` } }));
    this.#put(ociType());
  }

  take({ what, which, how }: Step): void {
    if (what === 'order') this.#newOrder(which, how);
    else if (what === 'workflow') this.#newWorkflow(which, how);
    else if (what === 'by hand') this.#newByHand(which, how);
    else if (what === 'run') this.#run(which, how);
    else if (what === 'type') this.#touch('ClusterArtifactType', which, { spec: { rules: { how } } });
    else if (what === 'template')
      this.#appear('argoproj.io/v1alpha1', 'ClusterWorkflowTemplate', 'arc-oci-image');
    else if (what === 'account') this.#appear('v1', 'ServiceAccount', 'arc-workflow', 'team');
    else if (what === 'secret') this.#appear('v1', 'Secret', `login-${['source', 'third'][how % 2]}`, 'team');
    else if (what === 'status') this.#orderStatus(which, how);
    else if (what === 'endpoint') this.#endpoint(which, how);
    else if (what === 'slots') this.#slots(which, how);
    else if (what === 'delete') this.#delete(which, how);
    else if (what === 'gone') this.#vanish(which);
    else this.#change(what, which, how);
  }

  #all(...kinds: string[]): Loose[] {
    return [...this.objects.values()].filter(({ kind }) => kinds.includes(kind)) as KubeObject[] as Loose[];
  }

  #pick(which: number, ...kinds: string[]): Loose | undefined {
    const all = this.#all(...kinds);
    return all[which % Math.max(1, all.length)];
  }

  #put(object: KubeObject): void {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata } as Observed;
    const before = this.objects.get(keyOf(stored));
    this.objects.set(keyOf(stored), stored);
    this.#show(stored, false, before);
  }

  #touch(kind: string, which: number, { spec, status, metadata }: Partial<Loose>): void {
    const found = this.#pick(which, kind);
    if (found === undefined) return;
    const generation = (found.metadata.generation ?? 0) + (spec === undefined ? 0 : 1);
    this.#put({
      ...found,
      metadata: { ...found.metadata, ...metadata, generation },
      spec: { ...found.spec, ...spec },
      status: { ...found.status, ...status },
    });
  }

  #newOrder(which: number, how: number): void {
    const name = `order-${which % 6}`;
    if (this.objects.has(`Order/team/${name}`)) return;
    const from = how % 3 === 1 ? 'third' : 'source';
    const to = how % 3 === 2 ? 'third' : 'destination';
    const made = order(name, ['a:1'], { defaults: { srcRef: { name: from }, dstRef: { name: to } } });
    this.#put({ ...made, metadata: { ...made.metadata, uid: this.#uid(name) } });
  }

  #newWorkflow(which: number, how: number): void {
    const owner = this.#pick(which, 'Order');
    if (owner === undefined) return;
    const { uid = '', name: ownerName } = owner.metadata;
    const name = `${ownerName}-${how % 4}`;
    const { apiVersion, kind } = owner;
    this.#newChild(name, how, { [labels.order]: uid, [labels.artifact]: `${uid}-${how % 2}` }, [
      { apiVersion, kind, name: ownerName, uid, controller: true },
    ]);
  }

  #newByHand(which: number, how: number): void {
    this.#newChild(`by-hand-${which % 3}`, how, {}, []);
  }

  #newChild(
    name: string,
    how: number,
    selected: Record<string, string>,
    ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>,
  ): void {
    if (this.objects.has(`ArtifactWorkflow/team/${name}`)) return;
    const made = artifactWorkflow(name);
    const target = how % 3 === 0 ? {} : { [labels.target]: `place-${how % 3}` };
    const { ownerReferences: _owners, ...metadata } = made.metadata;
    this.#put({
      ...made,
      metadata: {
        ...metadata,
        uid: this.#uid(name),
        creationTimestamp: new Date(Date.parse(date) + this.#version * 1_000).toISOString(),
        labels: { ...selected, ...target },
        ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
      },
      spec: {
        ...made.spec,
        ...(how % 2 === 0 ? { limitedBy: ['source'] } : {}),
        ...(how % 5 === 0 ? { parallelism: 1 } : {}),
        ...(how % 7 === 0 ? { cron: { schedules: ['@daily'] } } : {}),
      },
      status: how % 11 === 0 ? {} : { configSecret: { name } },
    });
  }

  #change(what: Step['what'], which: number, how: number): void {
    const found = this.#pick(which, 'ArtifactWorkflow');
    if (found === undefined) return;
    const { name, generation = 1 } = found.metadata;
    const kind = found.spec.cron === undefined ? 'Workflow' : 'CronWorkflow';
    const at = this.#all('ArtifactWorkflow').indexOf(found);
    const change = (over: Partial<Loose>) => this.#touch('ArtifactWorkflow', at, over);
    if (what === 'phase') {
      const phase = phases[how % phases.length] ?? '';
      const ended = how % 8 > 1 && how % 8 < 7 ? { completionTime: date } : {};
      const workflowRef = { kind, name: `${name}-1`, attempt: 1 };
      change({ status: { phase, observedGeneration: generation, workflowRef, ...ended } });
    } else if (what === 'refused')
      change({ status: { waitReason: how % 2 === 0 ? 'SubmissionFailed' : 'PlaceInUse', waitMessage: 'x' } });
    else if (what === 'limited') change({ spec: { limitedBy: how % 2 === 0 ? ['third'] : [] } });
    else if (what === 'cancel') change({ spec: { cancel: how % 3 !== 0 } });
    else if (what === 'rerun') {
      const note = { [annotations.forceAt]: String(1_800_000_000 + this.#version) };
      change({ metadata: { name, annotations: { ...found.metadata.annotations, ...note } } });
    }
  }

  /** Argo starts, or continues, the run of an ArtifactWorkflow. */
  #run(which: number, how: number): void {
    const owner = this.#pick(which, 'ArtifactWorkflow');
    if (owner === undefined) return;
    const kind = owner.spec.cron === undefined ? 'Workflow' : 'CronWorkflow';
    const { apiVersion, metadata } = owner;
    const { name, namespace = '', uid = '' } = metadata;
    const own = `${name}-1`;
    const known = this.objects.get(`${kind}/${namespace}/${own}`);
    const inherited = metadata.labels?.[labels.order];
    this.#put({
      apiVersion: 'argoproj.io/v1alpha1',
      kind,
      metadata: known?.metadata ?? {
        name: own,
        namespace,
        uid: this.#uid(own),
        labels: {
          ...(inherited === undefined ? {} : { [labels.order]: inherited }),
          [labels.artifactWorkflow]: name,
        },
        ownerReferences: [{ apiVersion, kind: owner.kind, name, uid, controller: true }],
      },
      spec: { suspend: how % 4 === 0 },
      status: how % 5 === 0 ? {} : { phase: phases[how % 4], progress: `${how % 3}/3` },
    });
  }

  #orderStatus(which: number, how: number): void {
    const found = this.#pick(which, 'Order');
    if (found === undefined) return;
    const at = this.#all('Order').indexOf(found);
    const phase = ['Running', 'Succeeded', 'Failed'][how % 3];
    const ready = phase === 'Succeeded' ? 'True' : 'False';
    const conditions = [
      { type: 'Ready', status: ready, reason: 'x', message: 'x', lastTransitionTime: date },
    ];
    if (how % 4 === 0) this.#touch('Order', at, { spec: { suspend: how % 8 === 0 } });
    else
      this.#touch('Order', at, {
        status: { phase, observedGeneration: found.metadata.generation, conditions },
      });
  }

  #endpoint(which: number, how: number): void {
    if (how % 3 === 0) this.#touch('Endpoint', which, { spec: { maxInFlight: 1 + (how % 4) } });
    else if (how % 3 === 1) this.#touch('Endpoint', which, { status: { secretGeneration: how % 5 } });
    else this.#touch('Endpoint', which, { status: { observedGeneration: 1 + (how % 3) } });
  }

  #slots(which: number, how: number): void {
    const names = this.#all('ArtifactWorkflow').map(({ metadata }) => metadata.name);
    this.#touch('Endpoint', which, { status: { inFlight: names.slice(0, how % 4) } });
  }

  #delete(which: number, how: number): void {
    const found = this.#pick(which, 'ArtifactWorkflow', 'Order');
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    const held = found.kind === 'Order' ? finalizers.children : finalizers.workflow;
    this.#put({
      ...found,
      metadata: { ...found.metadata, deletionTimestamp: date, finalizers: how % 9 === 0 ? [] : [held] },
    });
  }

  #vanish(which: number): void {
    const found = this.#pick(which, 'ArtifactWorkflow', 'Order', 'Workflow', 'CronWorkflow');
    if (found === undefined) return;
    const { deletionTimestamp } = found.metadata;
    // The API server keeps an object with a finalizer; Argo's objects have none.
    if (deletionTimestamp === undefined && (found.kind === 'Order' || found.kind === 'ArtifactWorkflow'))
      return;
    this.objects.delete(keyOf(found));
    this.#show(found as KubeObject as Observed, true, found as KubeObject as Observed);
  }

  #appear(apiVersion: string, kind: string, name: string, namespace?: string): void {
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }), uid: `uid-${kind}-${name}` };
    this.#put({ apiVersion, kind, metadata, spec: {} });
  }

  #uid(name: string): string {
    return `${name}-${this.#version}`;
  }
}

function keyOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
