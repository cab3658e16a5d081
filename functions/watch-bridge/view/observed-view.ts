import { ownerOfKind } from '#shared/base/meta';
import {
  type ArtifactType,
  type ArtifactWorkflow,
  appliesPolicies,
  artifactIdOf,
  type CronWorkflow,
  currentWorkflow,
  type Endpoint,
  endpointsUsed,
  isDeleting,
  isFinished,
  isInFlight,
  isSecretMissing,
  labels,
  limitingEndpoints,
  needsPerson,
  type Order,
  type OrderPlan,
  parseSettings,
  phaseOf,
  policyTypes,
  type Settings,
  type TemplateRef,
  templateKey,
  templateKeyOf,
  templatesUsed,
  tenantAccount,
  typesUsed,
  type View,
  type Workflow,
} from '#shared/domain';
import type { Observed } from './kept.ts';
import { Lookup } from './lookup.ts';
import { Plans } from './plans.ts';

export interface ViewOptions {
  watchSecrets?: boolean;
  watchSchedules?: boolean;
}

/** The kinds that plans depend on, beside Orders. */
const inputKinds: ReadonlySet<string> = new Set([
  'Endpoint',
  'ArtifactType',
  'ClusterArtifactType',
  'WorkflowTemplate',
  'ClusterWorkflowTemplate',
  'ConfigMap',
]);

/** The latest observed state of every object, trimmed, with its references. */
export class ObservedView implements View {
  readonly hasSchedules: boolean;
  readonly #hasSecrets: boolean;
  readonly #named = new Map<string, Observed>();
  readonly #byUid = new Map<string, Observed>();
  readonly #lookup = new Lookup();
  readonly #plans = new Plans();
  #settings: Settings = {};
  #settingsVersion = 0;
  /** Rises with each change of an object of `inputKinds`. */
  #inputsVersion = 0;

  constructor({ watchSecrets = false, watchSchedules = true }: ViewOptions = {}) {
    this.#hasSecrets = watchSecrets;
    this.hasSchedules = watchSchedules;
  }

  /** Stores the latest state of an object of any observed kind. */
  put(object: Observed): void {
    const { name, namespace, uid = '' } = object.metadata;
    const before = this.#byUid.get(uid);
    if (before !== undefined) this.#lookup.remove(before, keysOf(before));
    this.#lookup.add(object, keysOf(object));
    this.#named.set(nameOf(object.kind, namespace, name), object);
    this.#byUid.set(uid, object);
    if (inputKinds.has(object.kind)) this.#inputsVersion += 1;
    if (object.kind === 'ConfigMap') this.#read(object.data);
  }

  /** Removes an object that is deleted or no longer of concern; another object may have its name by now. */
  remove({ kind, metadata }: Pick<Observed, 'kind' | 'metadata'>): void {
    const { name, namespace, uid = '' } = metadata;
    const at = nameOf(kind, namespace, name);
    if (this.#named.get(at)?.metadata.uid === metadata.uid) this.#named.delete(at);
    const before = this.#byUid.get(uid);
    if (before !== undefined) this.#lookup.remove(before, keysOf(before));
    this.#byUid.delete(uid);
    this.#plans.forget(uid);
    if (inputKinds.has(kind)) this.#inputsVersion += 1;
    if (kind === 'ConfigMap') this.#read(undefined);
  }

  #read(data: Readonly<Record<string, string>> | undefined): void {
    this.#settings = parseSettings(data ?? {}, this.#settings).settings;
    this.#settingsVersion += 1;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Returns every object; may include objects that appear or disappear meanwhile. */
  objects(): Iterable<Observed> {
    return this.#byUid.values();
  }

  object(uid: string): Observed | undefined {
    return this.#byUid.get(uid);
  }

  order(uid: string): Order | undefined {
    const found = this.#byUid.get(uid);
    return found?.kind === 'Order' ? found : undefined;
  }

  orderOf(workflow: ArtifactWorkflow): Order | undefined {
    return this.order(ownerOfKind(workflow, 'Order')?.uid ?? '');
  }

  childrenOf({ metadata }: Pick<Order, 'metadata'>): readonly ArtifactWorkflow[] {
    return this.#lookup.get(`child ${metadata.uid}`);
  }

  hasUnfinished({ metadata }: Pick<Order, 'metadata'>): boolean {
    return this.#lookup.has(`unfinished ${metadata.uid}`);
  }

  countOfChildren({ metadata }: Pick<Order, 'metadata'>): number {
    return this.#lookup.count(`child ${metadata.uid}`);
  }

  inFlightOf({ metadata }: Pick<Order, 'metadata'>): number {
    return this.#lookup.count(`in flight ${metadata.uid}`);
  }

  planOf(order: Order): OrderPlan {
    return this.#plans.planOf(order, this.#inputsVersion, () => this.#inputsOf(order), this.#settings);
  }

  #inputsOf(order: Order) {
    const { namespace = '' } = order.metadata;
    const endpoints = endpointsUsed(order).flatMap((name) => this.endpoint(namespace, name) ?? []);
    const types = typesUsed(order, endpoints, this.#settings).flatMap((name) =>
      [
        this.#get<ArtifactType>('ArtifactType', namespace, name),
        this.#get<ArtifactType>('ClusterArtifactType', undefined, name),
      ].filter((type) => type !== undefined),
    );
    const isMissing = ({ name, clusterScope }: TemplateRef) =>
      clusterScope === true
        ? !this.#named.has(nameOf('ClusterWorkflowTemplate', undefined, name))
        : !this.#named.has(nameOf('WorkflowTemplate', namespace, name));
    const used = templatesUsed(order, types);
    const missingTemplates = used.filter(isMissing);
    const applyingTemplates = used.flatMap(({ name, clusterScope }) => {
      const template = clusterScope && this.#get('ClusterWorkflowTemplate', undefined, name);
      return template && appliesPolicies(template) ? [name] : [];
    });
    return { endpoints, types, missingTemplates, applyingTemplates };
  }

  /** Changes whenever something changes that the duties of the Order depend on, except the time. */
  stateOf(order: Order): string {
    const { namespace = '', resourceVersion } = order.metadata;
    const versions = this.childrenOf(order).map(({ metadata }) => metadata.resourceVersion);
    const inputs = this.#inputsOf(order);
    const about = [...inputs.endpoints, ...inputs.types].map(
      ({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`,
    );
    const missing = inputs.missingTemplates.map(({ name }) => name);
    return [
      namespace,
      resourceVersion,
      ...versions,
      '',
      ...about,
      '',
      ...missing,
      '',
      ...inputs.applyingTemplates,
      '',
      this.#settingsVersion,
    ].join();
  }

  endpoint(namespace: string, name: string): Endpoint | undefined {
    return this.#get('Endpoint', namespace, name);
  }

  endpointsOf(object: Order | ArtifactWorkflow): Endpoint[] {
    const { namespace = '' } = object.metadata;
    return namesOfEndpoints(object).flatMap((name) => this.endpoint(namespace, name) ?? []);
  }

  isInUse(endpoint: Endpoint): boolean {
    const { namespace, name } = endpoint.metadata;
    const at = `${namespace}/${name}`;
    // An Order that failed because the Secret was missing continues once the Secret exists.
    return this.#lookup.has(`busy ${at}`) || (isSecretMissing(endpoint) && this.#lookup.has(`order ${at}`));
  }

  limitedBy({ metadata }: Endpoint): readonly ArtifactWorkflow[] {
    return this.#lookup.get(`limited ${metadata.namespace}/${metadata.name}`);
  }

  countOfLimited({ metadata }: Endpoint): number {
    return this.#lookup.count(`limited ${metadata.namespace}/${metadata.name}`);
  }

  inFlightAt({ metadata }: Endpoint): number {
    return this.#lookup.count(`in flight ${metadata.namespace}/${metadata.name}`);
  }

  conflictsOf(workflow: ArtifactWorkflow): readonly ArtifactWorkflow[] {
    const { namespace, labels: own } = workflow.metadata;
    const versions = this.#lookup.get<ArtifactWorkflow>(`artifact ${namespace}/${artifactIdOf(workflow)}`);
    const writers = this.#lookup.get<ArtifactWorkflow>(`target ${namespace}/${own?.[labels.target]}`);
    if (versions.length === 0 || writers.length === 0) return versions.length > 0 ? versions : writers;
    return [...new Set([...versions, ...writers])];
  }

  argoOf(workflow: ArtifactWorkflow): Workflow | CronWorkflow | undefined {
    const { kind, name } = currentWorkflow(workflow);
    return this.#get(kind, workflow.metadata.namespace, name);
  }

  newestRunOf({ metadata }: CronWorkflow): Workflow | undefined {
    const created = (run: Workflow) => run.metadata.creationTimestamp ?? '';
    return this.#lookup
      .get<Workflow>(`run ${metadata.uid}`)
      .reduce<Workflow | undefined>(
        (last, run) => (last === undefined || created(run) > created(last) ? run : last),
        undefined,
      );
  }

  hasTenantAccount(namespace: string): boolean {
    return this.#named.has(nameOf('ServiceAccount', namespace, tenantAccount));
  }

  secretVersion(namespace: string, name: string): string | undefined {
    if (!this.#hasSecrets) return undefined;
    return this.#named.get(nameOf('Secret', namespace, name))?.metadata.resourceVersion ?? '';
  }

  ordersOfEndpoint({ metadata }: Pick<Observed, 'metadata'>): readonly Order[] {
    return this.#lookup.get(`order ${metadata.namespace}/${metadata.name}`);
  }

  /** The unfinished ones. */
  workflowsOfEndpoint({ metadata }: Pick<Observed, 'metadata'>): readonly ArtifactWorkflow[] {
    return this.#lookup.get(`workflow ${metadata.namespace}/${metadata.name}`);
  }

  /**
   * Yields the Orders with an artifact of the type (which shadows a type of the cluster only in its own namespace), or with a destination on which
   * its policy is enforced.
   */
  *ordersOfType({ metadata }: Pick<Observed, 'metadata'>): Iterable<Order> {
    const { namespace, name } = metadata;
    if (namespace !== undefined) {
      yield* this.#lookup.get<Order>(`type ${namespace}/${name}`);
      for (const endpoint of this.#lookup.get<Endpoint>(`policy ${namespace}/${name}`))
        yield* this.ordersOfEndpoint(endpoint);
      return;
    }
    // Types of the cluster change seldom, and an index for them would contain every Order once more.
    for (const object of this.#byUid.values()) {
      if (object.kind === 'Order' && this.#meansType(object, name)) yield object;
    }
  }

  #meansType(order: Order, name: string): boolean {
    if (order.spec.artifacts?.some(({ type }) => type === name)) return true;
    return policyTypes(order.metadata.namespace, this.endpointsOf(order), this.#settings).includes(name);
  }

  typesOfTemplate({ metadata }: Pick<Observed, 'metadata'>): readonly ArtifactType[] {
    return this.#lookup.get(`template ${templateKey(metadata.namespace, metadata.name)}`);
  }

  endpointsOfSecret({ metadata }: Pick<Observed, 'metadata'>): readonly Endpoint[] {
    return this.#lookup.get(`secret ${metadata.namespace}/${metadata.name}`);
  }

  /** Returns the ArtifactWorkflows that wait for something outside the API, such as a right. */
  waitingIn(namespace: string): readonly ArtifactWorkflow[] {
    return this.#lookup.get(`waiting ${namespace}`);
  }

  /** Returns the ArtifactWorkflow of an object of Argo or the garbage collector: by owner, by label for a scheduled run, or by the expected name. */
  workflowOf(object: Observed): ArtifactWorkflow[] {
    const { namespace, name, labels: own } = object.metadata;
    const owner = ownerOfKind(object, 'ArtifactWorkflow');
    const found = [
      this.#get<ArtifactWorkflow>(
        'ArtifactWorkflow',
        namespace,
        owner?.name ?? own?.[labels.artifactWorkflow] ?? '',
      ),
      ...this.#lookup.get<ArtifactWorkflow>(`expects ${nameOf(object.kind, namespace, name)}`),
    ];
    return [...new Set(found.filter((one) => one !== undefined))];
  }

  #get<T extends Observed>(kind: T['kind'], namespace: string | undefined, name: string): T | undefined {
    return this.#named.get(nameOf(kind, namespace, name)) as T | undefined;
  }
}

function nameOf(kind: string, namespace: string | undefined, name: string): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function namesOfEndpoints(object: Order | ArtifactWorkflow): string[] {
  if (object.kind === 'Order') return endpointsUsed(object);
  const { srcRef, dstRef } = object.spec;
  return [srcRef, dstRef].flatMap((ref) => (ref === undefined ? [] : [ref.name]));
}

/** Returns the keys of an object. The same state has the same keys. */
function keysOf(object: Observed): string[] {
  const { namespace } = object.metadata;
  switch (object.kind) {
    case 'Order':
      return keysOfOrder(object);
    case 'ArtifactWorkflow':
      return keysOfWorkflow(object);
    case 'Endpoint': {
      const { secretRef, tls, policyRef } = object.spec;
      const names = new Set([secretRef?.name, tls?.caSecretRef?.name]);
      return [
        ...[...names].flatMap((name) => (name === undefined ? [] : [`secret ${namespace}/${name}`])),
        ...(policyRef === undefined ? [] : [`policy ${namespace}/${policyRef.name}`]),
      ];
    }
    case 'ArtifactType':
    case 'ClusterArtifactType':
      return [`template ${templateKeyOf(object)}`];
    case 'Workflow': {
      const schedule = ownerOfKind(object, 'CronWorkflow');
      return schedule === undefined ? [] : [`run ${schedule.uid}`];
    }
    default:
      return [];
  }
}

function keysOfOrder(order: Order): string[] {
  const { namespace } = order.metadata;
  const types = new Set((order.spec.artifacts ?? []).map(({ type }) => type));
  const busy = isBusy(order);
  return [
    ...endpointsUsed(order).flatMap((name) => [
      `order ${namespace}/${name}`,
      ...(busy ? [`busy ${namespace}/${name}`] : []),
    ]),
    ...[...types].flatMap((name) => [`type ${namespace}/${name}`]),
  ];
}

function isBusy({ metadata, status }: Order): boolean {
  const { phase, observedGeneration } = status ?? {};
  if (metadata.deletionTimestamp !== undefined) return false;
  return observedGeneration !== metadata.generation || phase === 'Pending' || phase === 'Running';
}

function keysOfWorkflow(workflow: ArtifactWorkflow): string[] {
  const { namespace, labels: own } = workflow.metadata;
  const order = ownerOfKind(workflow, 'Order')?.uid;
  const id = artifactIdOf(workflow);
  const target = own?.[labels.target];
  const always = [
    ...(order === undefined ? [] : [`child ${order}`]),
    ...(id === undefined ? [] : [`artifact ${namespace}/${id}`]),
    // Includes finished writers: the result that one has overwritten may be forgotten.
    ...(target === undefined ? [] : [`target ${namespace}/${target}`]),
  ];
  if (isFinished(workflow) && !isDeleting(workflow)) return always;
  const { kind, name } = currentWorkflow(workflow);
  const { waitReason, configReason } = workflow.status ?? {};
  const limits = limitingEndpoints(workflow);
  // A schedule needs its credentials during a run, and a suspended ArtifactWorkflow not before it is resumed.
  const busy = phaseOf(workflow) !== 'Active' && workflow.spec.suspend !== true;
  return [
    ...always,
    ...(order === undefined || isFinished(workflow) ? [] : [`unfinished ${order}`]),
    ...[...new Set(namesOfEndpoints(workflow))].flatMap((end) => [
      `workflow ${namespace}/${end}`,
      ...(busy ? [`busy ${namespace}/${end}`] : []),
    ]),
    ...limits.map((end) => `limited ${namespace}/${end}`),
    ...(isInFlight(workflow)
      ? [
          ...limits.map((end) => `in flight ${namespace}/${end}`),
          ...(order === undefined ? [] : [`in flight ${order}`]),
        ]
      : []),
    `expects ${nameOf(kind, namespace, name)}`,
    ...(needsPerson(waitReason) || needsPerson(configReason) ? [`waiting ${namespace}`] : []),
  ];
}
