import {
  type AnyObject,
  type ArtifactType,
  type ArtifactWorkflow,
  type Endpoint,
  isFinished,
  labels,
  type Order,
  templateKey,
  templateKeyOf,
  type WakeIndex,
  type WakeObject,
} from '#shared/domain';
import { ownerOfKind } from '#shared/meta';

/** Objects by keys that they refer to; an object may have several keys, and takes new ones with each state. */
class Relation<T> {
  readonly #byKey = new Map<string, Map<string, T>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  set(uid: string, object: T, keys: readonly string[]): void {
    this.delete(uid);
    if (keys.length === 0) return;
    this.#keysOf.set(uid, keys);
    for (const key of keys) {
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, new Map([[uid, object]]));
      else known.set(uid, object);
    }
  }

  delete(uid: string): void {
    for (const key of this.#keysOf.get(uid) ?? []) {
      const known = this.#byKey.get(key);
      known?.delete(uid);
      if (known?.size === 0) this.#byKey.delete(key);
    }
    this.#keysOf.delete(uid);
  }

  get(key: string): Iterable<T> {
    return this.#byKey.get(key)?.values() ?? [];
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }
}

/** Which object refers to which, kept up with every change: what `wakesFor` asks. */
export class References implements WakeIndex {
  readonly #ordersByEndpoint = new Relation<WakeObject>();
  readonly #ordersByType = new Relation<WakeObject>();
  readonly #typesByTemplate = new Relation<WakeObject>();
  readonly #orders = new Map<string, Order>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #endpointsBySecret = new Relation<WakeObject>();
  readonly #workflowsByName = new Map<string, WakeObject>();
  readonly #workflowsByArtifact = new Relation<WakeObject>();
  readonly #workflowsByEndpoint = new Relation<WakeObject>();
  readonly #childrenByOrder = new Relation<ArtifactWorkflow>();
  readonly #unfinishedByOrder = new Relation<WakeObject>();

  /** Takes the newest state of an object of any watched kind. */
  put(object: AnyObject): void {
    if (object.kind === 'Order') this.#putOrder(object as unknown as Order);
    if (isType(object)) this.#putType(object as unknown as ArtifactType);
    if (object.kind === 'Endpoint') this.#putEndpoint(object as unknown as Endpoint);
    if (object.kind === 'ArtifactWorkflow') this.#putWorkflow(object as unknown as ArtifactWorkflow);
  }

  remove(object: WakeObject): void {
    const { uid = '' } = object.metadata;
    if (object.kind === 'Order') {
      this.#orders.delete(uid);
      this.#ordersByEndpoint.delete(uid);
      this.#ordersByType.delete(uid);
    }
    if (isType(object)) this.#typesByTemplate.delete(uid);
    if (object.kind === 'Endpoint') {
      this.#endpoints.delete(keyOf(object));
      this.#endpointsBySecret.delete(uid);
    }
    if (object.kind === 'ArtifactWorkflow') {
      this.#workflowsByName.delete(keyOf(object));
      this.#workflowsByArtifact.delete(uid);
      this.#workflowsByEndpoint.delete(uid);
      this.#childrenByOrder.delete(uid);
      this.#unfinishedByOrder.delete(uid);
    }
  }

  ordersUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#ordersByEndpoint.get(`${namespace}/${name}`);
  }

  ordersUsingType(namespace: string | undefined, name: string): Iterable<WakeObject> {
    return this.#ordersByType.get(namespace === undefined ? name : `${namespace}/${name}`);
  }

  *ordersUsingTemplate(namespace: string | undefined, name: string): Iterable<WakeObject> {
    for (const { metadata } of this.#typesByTemplate.get(templateKey(namespace, name)))
      yield* this.ordersUsingType(metadata.namespace, metadata.name);
  }

  endpointsUsingSecret(namespace: string, name: string): Iterable<WakeObject> {
    return this.#endpointsBySecret.get(`${namespace}/${name}`);
  }

  artifactWorkflowNamed(namespace: string, name: string): WakeObject | undefined {
    return this.#workflowsByName.get(`${namespace}/${name}`);
  }

  /** Unfinished ones only: the rest waits for nothing. */
  artifactWorkflowsOfArtifact(namespace: string, label: string): Iterable<WakeObject> {
    return this.#workflowsByArtifact.get(`${namespace}/${label}`);
  }

  /** Unfinished ones only: the rest waits for nothing. */
  artifactWorkflowsUsingEndpoint(namespace: string, name: string): Iterable<WakeObject> {
    return this.#workflowsByEndpoint.get(`${namespace}/${name}`);
  }

  order(uid: string): Order | undefined {
    return this.#orders.get(uid);
  }

  childrenOf(orderUid: string): Iterable<ArtifactWorkflow> {
    return this.#childrenByOrder.get(orderUid);
  }

  hasUnfinishedChild(orderUid: string): boolean {
    return this.#unfinishedByOrder.has(orderUid);
  }

  /** True if the Order's status was computed from other generations of its Endpoints than there are now. */
  hasStaleInputs(order: Order): boolean {
    const { endpointGenerations = {}, secretGenerations = {} } = order.status ?? {};
    const { namespace = '' } = order.metadata;
    return endpointNames(order).some((name) => {
      const endpoint = this.#endpoints.get(`${namespace}/${name}`);
      return (
        endpoint?.metadata.generation !== endpointGenerations[name] ||
        endpoint?.status?.secretGeneration !== secretGenerations[name]
      );
    });
  }

  #putOrder(order: Order): void {
    const { uid = '', namespace = '' } = order.metadata;
    const types = [...new Set((order.spec.artifacts ?? []).map(({ type }) => type))];
    this.#orders.set(uid, order);
    this.#ordersByEndpoint.set(
      uid,
      slim(order),
      endpointNames(order).map((name) => `${namespace}/${name}`),
    );
    this.#ordersByType.set(
      uid,
      slim(order),
      types.flatMap((name) => [name, `${namespace}/${name}`]),
    );
  }

  #putType(type: ArtifactType): void {
    this.#typesByTemplate.set(type.metadata.uid ?? '', slim(type), [templateKeyOf(type)]);
  }

  #putEndpoint(endpoint: Endpoint): void {
    const { uid = '', namespace = '' } = endpoint.metadata;
    const { secretRef, tls } = endpoint.spec;
    const names = [secretRef?.name, tls?.caSecretRef?.name].filter((name) => name !== undefined);
    this.#endpoints.set(keyOf(endpoint), endpoint);
    this.#endpointsBySecret.set(
      uid,
      slim(endpoint),
      names.map((name) => `${namespace}/${name}`),
    );
  }

  #putWorkflow(workflow: ArtifactWorkflow): void {
    const { uid = '', namespace = '' } = workflow.metadata;
    const artifact = workflow.metadata.labels?.[labels.artifact];
    const order = ownerOfKind(workflow, 'Order')?.uid;
    const { srcRef, dstRef } = workflow.spec;
    const used = [srcRef?.name, dstRef?.name].filter((name) => name !== undefined);
    const open = !isFinished(workflow);
    const object = slim(workflow);
    this.#workflowsByName.set(keyOf(workflow), object);
    this.#workflowsByArtifact.set(uid, object, open && artifact ? [`${namespace}/${artifact}`] : []);
    this.#workflowsByEndpoint.set(uid, object, open ? used.map((name) => `${namespace}/${name}`) : []);
    this.#childrenByOrder.set(uid, workflow, order === undefined ? [] : [order]);
    this.#unfinishedByOrder.set(uid, object, open && order !== undefined ? [order] : []);
  }
}

function isType({ kind }: WakeObject): boolean {
  return kind === 'ArtifactType' || kind === 'ClusterArtifactType';
}

function endpointNames(order: Order): string[] {
  const { defaults, artifacts = [] } = order.spec;
  const names = artifacts.flatMap(({ srcRef, dstRef }) => [
    (srcRef ?? defaults?.srcRef)?.name,
    (dstRef ?? defaults?.dstRef)?.name,
  ]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

function keyOf({ metadata }: Pick<AnyObject, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** What it takes to wake an object, and no more: there may be millions. */
function slim(object: WakeObject): WakeObject {
  const { name, namespace, uid, labels: marks, ownerReferences, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(marks === undefined ? {} : { labels: marks }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
