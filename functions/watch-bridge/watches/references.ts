import {
  type ArtifactStatus,
  type ArtifactType,
  type ArtifactWorkflow,
  artifactIdOf,
  type CronWorkflow,
  type Endpoint,
  endpointsUsed,
  isFinished,
  isInStep,
  isOrderInStep,
  keyOfName,
  labels,
  limitingEndpoints,
  type Order,
  phaseOf,
  templateKey,
  templateKeyOf,
  type WakeIndex,
  type WakeObject,
  type Workflow,
  waitsForPerson,
} from '#shared/domain';
import { type KubeObject, ownerOfKind } from '#shared/meta';
import { HashIndex, hashOf } from '../objects/hash-index.ts';
import type { Id, ObjectTable } from '../objects/object-table.ts';
import { ForeignSlots } from './foreign-slots.ts';
import { Relation } from './relation.ts';

/** Which object refers to which, by the newest state of each: answers what `wakesFor` asks. The states are in the table. */
export class References implements WakeIndex {
  readonly #objects: ObjectTable;
  readonly #relation = new Relation();
  /** ArtifactWorkflows by the uid of their Order. */
  readonly #children = new HashIndex();
  /** Every other object asks for its Endpoints: they are kept as they are. */
  readonly #endpoints = new Map<string, Endpoint>();

  readonly #foreign = new ForeignSlots();

  constructor(objects: ObjectTable) {
    this.#objects = objects;
  }

  /** Takes the newest state of an ArtifactWorkflow of another shard: of those, only slots depend on it. */
  putForeign(workflow: ArtifactWorkflow): void {
    this.#foreign.put(workflow);
  }

  /** Takes the newest state of an object of any watched kind, and what was known of it before. */
  put(object: KubeObject, before?: KubeObject): void {
    const id = this.#objects.put(object);
    if (before !== undefined) this.#unlink(before, id);
    this.#relation.add(keysOf(object), id);
    const order = orderOf(object);
    if (order !== undefined) this.#children.add(hashOf(order), id);
    if (object.kind === 'Endpoint') this.#endpoints.set(keyOf(object), object as unknown as Endpoint);
    if (object.kind === 'ArtifactWorkflow') this.#foreign.remove(object);
  }

  /** The object is gone; another one may have its name by now. */
  remove(object: KubeObject): void {
    if (object.kind === 'ArtifactWorkflow') this.#foreign.remove(object);
    const id = this.idOf(object);
    if (object.kind === 'Endpoint') this.#endpoints.delete(keyOf(object));
    const known = id === undefined ? undefined : this.#objects.get(id);
    if (id === undefined || known === undefined) return;
    const isKnown = known.metadata.uid === object.metadata.uid;
    this.#unlink(isKnown ? known : object, id);
    if (isKnown) this.#objects.remove(id);
  }

  #unlink(object: KubeObject, id: Id): void {
    this.#relation.delete(keysOf(object), id);
    const order = orderOf(object);
    if (order !== undefined) this.#children.delete(hashOf(order), id);
  }

  /** The number of an object, by its name. */
  idOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): Id | undefined {
    return this.#objects.named(kind, metadata.namespace, metadata.name);
  }

  idOfUid(uid: string): Id | undefined {
    return this.#objects.withUid(uid);
  }

  object(id: Id): KubeObject | undefined {
    return this.#objects.get(id);
  }

  /** All that are there. */
  ids(): Iterable<Id> {
    return this.#objects.ids();
  }

  ordersUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#related(`order-endpoint:${namespace}/${name}`);
  }

  hasOrderUsing(namespace: string, endpoint: string): boolean {
    return this.#relation.has(`order-endpoint:${namespace}/${endpoint}`);
  }

  /** The keys (namespace/name) of the Endpoints that these Orders and ArtifactWorkflows name. */
  endpointsUsedBy(objects: Iterable<KubeObject>): Set<string> {
    const used = new Set<string>();
    for (const object of objects) {
      const { namespace = '' } = object.metadata;
      for (const name of endpointsNamedBy(object)) used.add(`${namespace}/${name}`);
    }
    return used;
  }

  /** The Endpoints that an Order names, as far as they exist. */
  endpointsOf(order: Order): Endpoint[] {
    const { namespace = '' } = order.metadata;
    return endpointsUsed(order).flatMap((name) => this.#endpoints.get(`${namespace}/${name}`) ?? []);
  }

  /** Few namespaces and types have very many Orders: those of a type of the cluster are found by walking through the former. */
  *ordersUsingType(namespace: string | undefined, name: string): Iterable<WakeObject> {
    if (namespace !== undefined) yield* this.#related(`order-type:${namespace}/${name}`);
    else
      for (const key of this.#relation.keys())
        if (key.startsWith('order-type:') && key.endsWith(`/${name}`)) yield* this.#related(key);
  }

  *ordersUsingTemplate(namespace: string | undefined, name: string): Iterable<WakeObject> {
    for (const { metadata } of this.#related(`type-template:${templateKey(namespace, name)}`))
      yield* this.ordersUsingType(metadata.namespace, metadata.name);
  }

  *ordersWaitingIn(namespace: string): Iterable<WakeObject> {
    const found = new Set<string>();
    for (const object of this.#related(`waits-for-person:${namespace}`)) {
      const uid = object.kind === 'Order' ? (object.metadata.uid ?? '') : (orderOf(object) ?? '');
      const order = this.order(uid);
      if (order !== undefined && !found.has(uid)) yield order;
      found.add(uid);
    }
  }

  endpointsUsingSecret(namespace: string, name: string): Iterable<WakeObject> {
    return this.#related(`endpoint-secret:${namespace}/${name}`);
  }

  endpointNamed(namespace: string, name: string): Endpoint | undefined {
    return this.#endpoints.get(`${namespace}/${name}`);
  }

  artifactWorkflowNamed(namespace: string, name: string): ArtifactWorkflow | undefined {
    return this.#named('ArtifactWorkflow', namespace, name);
  }

  artifactWorkflowsOfArtifact(namespace: string, label: string): Iterable<WakeObject> {
    return this.#related(`waiting-artifact:${namespace}/${label}`);
  }

  artifactWorkflowsOfTarget(namespace: string, label: string): Iterable<WakeObject> {
    return this.#related(`waiting-target:${namespace}/${label}`);
  }

  artifactWorkflowsUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#related(`waiting-endpoint:${namespace}/${name}`);
  }

  artifactWorkflowsLimitedBy(namespace: string, endpoint: string): Iterable<ArtifactWorkflow> {
    const own = this.#related<ArtifactWorkflow>(`limited:${namespace}/${endpoint}`);
    return [...own, ...this.#foreign.limitedBy(namespace, endpoint)];
  }

  artifactWorkflowsOfOrder(uid: string): Iterable<ArtifactWorkflow> {
    return this.childrenOf(uid);
  }

  order(uid: string): Order | undefined {
    const id = this.#objects.withUid(uid);
    const object = id === undefined ? undefined : this.#objects.get(id);
    return object?.kind === 'Order' ? (object as unknown as Order) : undefined;
  }

  childrenOf(orderUid: string): ArtifactWorkflow[] {
    const found: ArtifactWorkflow[] = [];
    for (const id of this.#children.get(hashOf(orderUid))) {
      const object = this.#objects.get(id);
      if (object !== undefined && orderOf(object) === orderUid)
        found.push(object as unknown as ArtifactWorkflow);
    }
    return found;
  }

  hasUnfinishedChild(orderUid: string): boolean {
    return this.#relation.has(`waiting-order:${orderUid}`);
  }

  /** Those with the key, as they are now: it may change while they are walked through. */
  #related<T = KubeObject>(key: string): T[] {
    const found: T[] = [];
    for (const id of this.#relation.get(key)) {
      const object = this.#objects.get(id);
      if (object !== undefined) found.push(object as unknown as T);
    }
    return found;
  }

  #named<T>(kind: string, namespace: string, name: string): T | undefined {
    const id = this.#objects.named(kind, namespace, name);
    return id === undefined ? undefined : (this.#objects.get(id) as unknown as T | undefined);
  }

  /** True if the Endpoints of an Order have other generations now than its status was computed from. */
  hasStaleInputs(order: Order): boolean {
    const { endpointGenerations = {}, secretGenerations = {} } = order.status ?? {};
    const { namespace = '' } = order.metadata;
    return endpointsUsed(order).some((name) => {
      const endpoint = this.#endpoints.get(`${namespace}/${name}`);
      return (
        endpoint?.metadata.generation !== endpointGenerations[name] ||
        endpoint?.status?.secretGeneration !== secretGenerations[name]
      );
    });
  }

  /** True if the status of an Order does not show the end of one of its ArtifactWorkflows, or that it goes on. */
  hasStaleChildren(order: Order): boolean {
    const { uid = '' } = order.metadata;
    const { phase, artifactWorkflows: entries = {} } = order.status ?? {};
    for (const child of this.childrenOf(uid)) {
      // What waits for a person is Invalid in its Order, which has failed then.
      const isOver = isFinished(child) || (phase === 'Failed' && waitsForPerson(child));
      if ((phase === 'Failed' || phase === 'Cancelled') && !isOver) return true;
      const entry = entries[keyOfName(child.metadata.name) ?? child.metadata.name];
      if (entry !== undefined && !isShown(child, entry)) return true;
    }
    return false;
  }

  /** True if functions have nothing to do for an Order or ArtifactWorkflow that is not settled, before something else changes. */
  isInStep(object: KubeObject, now: Date): boolean {
    if (object.kind === 'ArtifactWorkflow') {
      const workflow = object as unknown as ArtifactWorkflow;
      const { name = '' } = workflow.status?.workflowRef ?? {};
      return isInStep(
        workflow,
        this.#named<Workflow>('Workflow', workflow.metadata.namespace ?? '', name),
        now,
      );
    }
    if (object.kind !== 'Order') return false;
    const order = object as unknown as Order;
    const children = this.childrenOf(order.metadata.uid ?? '');
    return isOrderInStep(order, children) && !this.hasStaleInputs(order) && !this.hasStaleChildren(order);
  }

  /** True if an Active ArtifactWorkflow does not show the runs of its CronWorkflow, or one of them is suspended and the other is not. */
  hasStaleSchedule(workflow: ArtifactWorkflow): boolean {
    if (phaseOf(workflow) !== 'Active') return false;
    const { metadata, spec, status = {} } = workflow;
    const { workflowRef, activeWorkflowRef, lastScheduled } = status;
    const name = workflowRef?.name ?? '';
    const found = this.#named<CronWorkflow>('CronWorkflow', metadata.namespace ?? '', name);
    const { active, lastScheduledTime } = found?.status ?? {};
    return (
      found === undefined ||
      (found.spec.suspend === true) !== (spec.suspend === true) ||
      active?.[0]?.name !== activeWorkflowRef?.name ||
      (lastScheduledTime ?? lastScheduled) !== lastScheduled
    );
  }
}

/** By what an object is found. The same state has the same keys. */
function keysOf(object: KubeObject): string[] {
  const { kind } = object;
  const { namespace = '' } = object.metadata;
  const keys = (relation: string, names: readonly (string | undefined)[]) =>
    names.filter((name) => name !== undefined).map((name) => `${relation}:${name}`);
  const here = (relation: string, names: readonly (string | undefined)[]) =>
    keys(relation, within(namespace, names));
  if (kind === 'Order') {
    const order = object as unknown as Order;
    const types = [...new Set((order.spec.artifacts ?? []).map(({ type }) => type))];
    return [
      ...here('order-endpoint', endpointsUsed(order)),
      ...here('order-type', types),
      ...keys('waits-for-person', [waitsForPerson(order) ? namespace : undefined]),
    ];
  }
  if (kind === 'Endpoint') {
    const { secretRef, tls } = (object as unknown as Endpoint).spec;
    return here('endpoint-secret', [secretRef?.name, tls?.caSecretRef?.name]);
  }
  if (kind === 'ArtifactType' || kind === 'ClusterArtifactType')
    return keys('type-template', [templateKeyOf(object as unknown as ArtifactType)]);
  if (kind !== 'ArtifactWorkflow') return [];
  const workflow = object as unknown as ArtifactWorkflow;
  const waits = keys('waits-for-person', [waitsForPerson(workflow) ? namespace : undefined]);
  // A finished one waits for nothing but, maybe, a person.
  if (isFinished(workflow)) return waits;
  const { srcRef, dstRef } = workflow.spec;
  return [
    ...waits,
    ...here('waiting-artifact', [artifactIdOf(workflow) || undefined]),
    ...here('waiting-target', [workflow.metadata.labels?.[labels.target]]),
    ...here('waiting-endpoint', [srcRef?.name, dstRef?.name]),
    ...keys('waiting-order', [orderOf(object)]),
    ...here('limited', limitingEndpoints(workflow)),
  ];
}

/** The uid of the Order of an ArtifactWorkflow. */
function orderOf(object: KubeObject): string | undefined {
  return object.kind === 'ArtifactWorkflow' ? ownerOfKind(object, 'Order')?.uid : undefined;
}

/** True if an entry of an Order's status shows how the ArtifactWorkflow ended, or whether a run of its schedule is under way. */
function isShown(child: ArtifactWorkflow, entry: ArtifactStatus): boolean {
  const phase = phaseOf(child);
  if (phase === 'Active')
    return (entry.progress !== undefined) === (child.status?.activeWorkflowRef !== undefined);
  if (!isFinished(child)) return true;
  if (phase === 'Cancelled') return entry.phase === 'Cancelled';
  return entry.completionTime !== undefined && (entry.phase === 'Succeeded') === (phase === 'Succeeded');
}

function endpointsNamedBy(object: KubeObject): readonly string[] {
  if (object.kind === 'Order') return endpointsUsed(object as unknown as Order);
  if (object.kind !== 'ArtifactWorkflow') return [];
  const { srcRef, dstRef } = (object as unknown as ArtifactWorkflow).spec;
  return [srcRef, dstRef].flatMap((ref) => (ref === undefined ? [] : [ref.name]));
}

/** Keys of objects of one namespace; absent names are left out. */
function within(namespace: string, names: readonly (string | undefined)[]): string[] {
  return names.filter((name) => name !== undefined).map((name) => `${namespace}/${name}`);
}

function keyOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
