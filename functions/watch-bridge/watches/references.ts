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
import { Relation } from './relation.ts';

/** Which object refers to which, by the newest state of each: answers what `wakesFor` asks. */
export class References implements WakeIndex {
  readonly #orders = new Map<string, Order>();
  readonly #ordersByEndpoint = new Relation<WakeObject>();
  readonly #ordersByType = new Relation<WakeObject>();
  readonly #typesByTemplate = new Relation<WakeObject>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #endpointsBySecret = new Relation<WakeObject>();
  readonly #schedules = new Map<string, CronWorkflow>();
  readonly #runs = new Map<string, Workflow>();
  readonly #workflowsByName = new Map<string, ArtifactWorkflow>();
  readonly #childrenByOrder = new Relation<ArtifactWorkflow>();
  // Unfinished ArtifactWorkflows only: a finished one waits for nothing.
  readonly #waitingByArtifact = new Relation<WakeObject>();
  readonly #waitingByTarget = new Relation<WakeObject>();
  readonly #waitingByEndpoint = new Relation<WakeObject>();
  readonly #waitingByOrder = new Relation<WakeObject>();
  readonly #limitedByEndpoint = new Relation<ArtifactWorkflow>();

  /** Takes the newest state of an object of any watched kind. */
  put(object: KubeObject): void {
    const { kind } = object;
    if (kind === 'Order') this.#putOrder(object as unknown as Order);
    else if (kind === 'Endpoint') this.#putEndpoint(object as unknown as Endpoint);
    else if (kind === 'ArtifactWorkflow') this.#putWorkflow(object as unknown as ArtifactWorkflow);
    else if (kind === 'CronWorkflow') this.#schedules.set(keyOf(object), object as unknown as CronWorkflow);
    else if (kind === 'Workflow') this.#runs.set(keyOf(object), object as unknown as Workflow);
    else if (kind === 'ArtifactType' || kind === 'ClusterArtifactType')
      this.#putType(object as unknown as ArtifactType);
  }

  /** Takes the newest state of an ArtifactWorkflow of another shard: of those, only slots depend on it. */
  putForeign(workflow: ArtifactWorkflow): void {
    const { uid = '', namespace = '' } = workflow.metadata;
    const limited = isFinished(workflow) ? [] : within(namespace, limitingEndpoints(workflow));
    this.#limitedByEndpoint.set(uid, workflow, limited);
  }

  remove(object: WakeObject): void {
    const { uid = '' } = object.metadata;
    if (object.kind === 'Order') this.#orders.delete(uid);
    if (object.kind === 'Endpoint') this.#endpoints.delete(keyOf(object));
    if (object.kind === 'CronWorkflow') this.#schedules.delete(keyOf(object));
    if (object.kind === 'Workflow') this.#runs.delete(keyOf(object));
    if (object.kind === 'ArtifactWorkflow') this.#workflowsByName.delete(keyOf(object));
    for (const relation of [
      this.#ordersByEndpoint,
      this.#ordersByType,
      this.#typesByTemplate,
      this.#endpointsBySecret,
      this.#childrenByOrder,
      this.#waitingByArtifact,
      this.#waitingByTarget,
      this.#waitingByEndpoint,
      this.#waitingByOrder,
      this.#limitedByEndpoint,
    ])
      relation.delete(uid);
  }

  ordersUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#ordersByEndpoint.get(`${namespace}/${name}`);
  }

  hasOrderUsing(namespace: string, endpoint: string): boolean {
    return this.#ordersByEndpoint.has(`${namespace}/${endpoint}`);
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

  ordersUsingType(namespace: string | undefined, name: string): Iterable<WakeObject> {
    return this.#ordersByType.get(namespace === undefined ? name : `${namespace}/${name}`);
  }

  *ordersUsingTemplate(namespace: string | undefined, name: string): Iterable<WakeObject> {
    for (const { metadata } of this.#typesByTemplate.get(templateKey(namespace, name)))
      yield* this.ordersUsingType(metadata.namespace, metadata.name);
  }

  *ordersWaitingIn(namespace: string): Iterable<WakeObject> {
    for (const order of this.#orders.values()) {
      if (order.metadata.namespace !== namespace) continue;
      const all = [order, ...this.childrenOf(order.metadata.uid ?? '')];
      if (all.some((one) => waitsForPerson(one))) yield order;
    }
  }

  endpointsUsingSecret(namespace: string, name: string): Iterable<WakeObject> {
    return this.#endpointsBySecret.get(`${namespace}/${name}`);
  }

  endpointNamed(namespace: string, name: string): Endpoint | undefined {
    return this.#endpoints.get(`${namespace}/${name}`);
  }

  artifactWorkflowNamed(namespace: string, name: string): ArtifactWorkflow | undefined {
    return this.#workflowsByName.get(`${namespace}/${name}`);
  }

  artifactWorkflowsOfArtifact(namespace: string, label: string): Iterable<WakeObject> {
    return this.#waitingByArtifact.get(`${namespace}/${label}`);
  }

  artifactWorkflowsOfTarget(namespace: string, label: string): Iterable<WakeObject> {
    return this.#waitingByTarget.get(`${namespace}/${label}`);
  }

  artifactWorkflowsUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#waitingByEndpoint.get(`${namespace}/${name}`);
  }

  artifactWorkflowsLimitedBy(namespace: string, endpoint: string): Iterable<ArtifactWorkflow> {
    return this.#limitedByEndpoint.get(`${namespace}/${endpoint}`);
  }

  artifactWorkflowsOfOrder(uid: string): Iterable<ArtifactWorkflow> {
    return this.childrenOf(uid);
  }

  order(uid: string): Order | undefined {
    return this.#orders.get(uid);
  }

  childrenOf(orderUid: string): Iterable<ArtifactWorkflow> {
    return this.#childrenByOrder.get(orderUid);
  }

  hasUnfinishedChild(orderUid: string): boolean {
    return this.#waitingByOrder.has(orderUid);
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
      return isInStep(workflow, this.#runs.get(`${workflow.metadata.namespace ?? ''}/${name}`), now);
    }
    if (object.kind !== 'Order') return false;
    const order = object as unknown as Order;
    const children = [...this.childrenOf(order.metadata.uid ?? '')];
    return isOrderInStep(order, children) && !this.hasStaleInputs(order) && !this.hasStaleChildren(order);
  }

  /** True if an Active ArtifactWorkflow does not show the runs of its CronWorkflow, or one of them is suspended and the other is not. */
  hasStaleSchedule(workflow: ArtifactWorkflow): boolean {
    if (phaseOf(workflow) !== 'Active') return false;
    const { metadata, spec, status = {} } = workflow;
    const { workflowRef, activeWorkflowRef, lastScheduled } = status;
    const found = this.#schedules.get(`${metadata.namespace ?? ''}/${workflowRef?.name ?? ''}`);
    const { active, lastScheduledTime } = found?.status ?? {};
    return (
      found === undefined ||
      (found.spec.suspend === true) !== (spec.suspend === true) ||
      active?.[0]?.name !== activeWorkflowRef?.name ||
      (lastScheduledTime ?? lastScheduled) !== lastScheduled
    );
  }

  #putOrder(order: Order): void {
    const { uid = '', namespace = '' } = order.metadata;
    const target = slim(order);
    const types = [...new Set((order.spec.artifacts ?? []).map(({ type }) => type))];
    this.#orders.set(uid, order);
    this.#ordersByEndpoint.set(uid, target, within(namespace, endpointsUsed(order)));
    // Each type by both names that it may have: of the cluster and of the namespace.
    this.#ordersByType.set(uid, target, [...types, ...within(namespace, types)]);
  }

  #putType(type: ArtifactType): void {
    this.#typesByTemplate.set(type.metadata.uid ?? '', slim(type), [templateKeyOf(type)]);
  }

  #putEndpoint(endpoint: Endpoint): void {
    const { uid = '', namespace = '' } = endpoint.metadata;
    const { secretRef, tls } = endpoint.spec;
    const secrets = within(namespace, [secretRef?.name, tls?.caSecretRef?.name]);
    this.#endpoints.set(keyOf(endpoint), endpoint);
    this.#endpointsBySecret.set(uid, slim(endpoint), secrets);
  }

  #putWorkflow(workflow: ArtifactWorkflow): void {
    const { uid = '', namespace = '' } = workflow.metadata;
    const { srcRef, dstRef } = workflow.spec;
    const target = slim(workflow);
    const order = ownerOfKind(workflow, 'Order')?.uid;
    const orders = order === undefined ? [] : [order];
    this.#workflowsByName.set(keyOf(workflow), workflow);
    this.#childrenByOrder.set(uid, workflow, orders);

    const waiting = !isFinished(workflow);
    const artifacts = within(namespace, [artifactIdOf(workflow) || undefined]);
    const endpoints = within(namespace, [srcRef?.name, dstRef?.name]);
    this.#waitingByArtifact.set(uid, target, waiting ? artifacts : []);
    const written = within(namespace, [workflow.metadata.labels?.[labels.target]]);
    this.#waitingByTarget.set(uid, target, waiting ? written : []);
    this.#waitingByEndpoint.set(uid, target, waiting ? endpoints : []);
    this.#waitingByOrder.set(uid, target, waiting ? orders : []);
    this.putForeign(workflow);
  }
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

/** Only the fields that a wake needs: there may be millions of objects. */
function slim(object: WakeObject): WakeObject {
  const { name, namespace, uid, labels: selected, ownerReferences, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(selected === undefined ? {} : { labels: selected }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
