import { isoSeconds, type KubeObject } from '#shared/base/meta';
import {
  type CronWorkflow,
  clusterWorkflowTemplates,
  cronWorkflows,
  isDeleting,
  labels,
  type Ref,
  serviceAccounts,
  type Workflow,
  workflows,
} from '#shared/domain';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { exceeded } from './limits.ts';

/** A pod of Argo's, as far as anybody looks at it. */
type Pod = KubeObject & { status?: { phase?: 'Running' | 'Succeeded' | 'Failed' } };
export const pods: Ref<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** terminationGracePeriodSeconds: a worker that ignores SIGTERM writes for so long. */
const graceMs = 30_000;
/** The ServiceAccount of the pods. */
export const account = 'arc-workflow';
const workflowLabel = 'workflows.argoproj.io/workflow';
const imageAnnotation = 'model/image';
const placeAnnotation = 'model/place';

/**
 * Argo, the kubelet and the destination registry, one step at a time. A Workflow runs one pod, which pushes its image and ends; Argo sees
 * that a step later. A Workflow that is shut down or deleted is over at once, and its pod is not: it pushes when its grace period ends.
 */
export class Argo {
  readonly #kube: FakeApi;
  readonly #now: () => number;
  /** What the destination holds: the digest that was pushed last, by place. */
  readonly registry = new Map<string, string>();
  /** How many more times the Workflows of an image fail, as the worker says: retryable. */
  readonly failures = new Map<string, number>();
  /** How many transfers have failed. */
  failed = 0;
  /** Pods that wrote to one place at one time, and whatever else must never be. */
  readonly broken: string[] = [];
  /** Added to the time of its own clock, in ms. */
  skewMs = 0;
  #installed = true;
  /** False while nothing has changed since a step that moved nothing: then the next one would not either. */
  #due = true;

  constructor(kube: FakeApi, now: () => number) {
    this.#kube = kube;
    this.#now = now;
    kube.listen(({ object }) => {
      if (object.kind === 'Pod' || object.kind.endsWith('Workflow')) this.#due = true;
    });
  }

  get installed(): boolean {
    return this.#installed;
  }

  /** Takes the definitions away, and with them every object; the pods end in their own time. */
  uninstall(): void {
    this.#installed = false;
    for (const kind of [workflows, cronWorkflows, clusterWorkflowTemplates])
      for (const { metadata } of this.#kube.all<KubeObject>(kind)) this.#kube.remove(kind, metadata);
  }

  install(): void {
    this.#installed = true;
  }

  /** One step for everything there is. True if anything moved. */
  step(): boolean {
    if (!this.#due) return false;
    const all = this.#kube.all(pods);
    // A pod in its grace period waits for the time.
    this.#due = all.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    let moved = false;
    for (const pod of all) moved = this.#runPod(pod) || moved;
    if (!this.#installed) return moved;
    for (const cron of this.#kube.all(cronWorkflows)) moved = this.#schedule(cron) || moved;
    for (const one of this.#kube.all(workflows)) moved = this.#run(one) || moved;
    return moved;
  }

  /** Pods whose Workflow is gone or over are told to end; others push, or fail, and end. */
  #runPod(pod: Pod): boolean {
    if (pod.status?.phase !== 'Running') return this.#collectPod(pod);
    const { metadata } = pod;
    const owner = this.#workflowOf(pod);
    const image = metadata.annotations?.[imageAnnotation] ?? '';
    if (metadata.deletionTimestamp !== undefined) {
      if (this.#now() < Date.parse(metadata.deletionTimestamp) + graceMs) return false;
      this.#push(pod);
      this.#kube.remove(pods, metadata);
      return true;
    }
    if (!owner || owner.spec.shutdown || isOver(owner)) {
      this.#kube.put({ ...pod, metadata: { ...metadata, deletionTimestamp: isoSeconds(this.#now()) } });
      return true;
    }
    const left = this.failures.get(image) ?? 0;
    if (left > 0) {
      this.failures.set(image, left - 1);
      this.failed += 1;
    } else this.#push(pod);
    this.#kube.put({ ...pod, status: { phase: left > 0 ? 'Failed' : 'Succeeded' } });
    return true;
  }

  #collectPod(pod: Pod): boolean {
    if (this.#workflowOf(pod)) return false;
    this.#kube.remove(pods, pod.metadata);
    return true;
  }

  #workflowOf({ metadata }: Pod): Workflow | undefined {
    const found = this.#kube.read(workflows, { ...metadata, name: metadata.labels?.[workflowLabel] ?? '' });
    return found?.metadata.uid === metadata.ownerReferences?.[0]?.uid ? found : undefined;
  }

  #push({ metadata }: Pod): void {
    const { [placeAnnotation]: place = '', [imageAnnotation]: image = '' } = metadata.annotations ?? {};
    this.registry.set(place, digestOf(image));
  }

  #run(one: Workflow): boolean {
    if (isOver(one) || isDeleting(one)) return false;
    const time = isoSeconds(this.#now() + this.skewMs);
    if (one.spec.shutdown) return this.#end(one, 'Failed', time, 'Stopped with strategy Terminate');
    const pod = this.#kube.read(pods, one.metadata);
    if (one.status?.phase !== 'Running') {
      if (one.spec.suspend) return false;
      if (!this.#kube.read(serviceAccounts, { ...one.metadata, name: account }))
        return this.#end(one, 'Error', time, `error looking up: serviceaccount "${account}" not found`);
      this.#startPod(one);
      this.#kube.put({ ...one, status: { phase: 'Running', startedAt: time } });
      return true;
    }
    const image = imageOf(one);
    if (pod?.status?.phase === 'Succeeded') {
      const bytes = { copied: image.length, existed: 0, mounted: 0 };
      const result = JSON.stringify({ outcome: 'succeeded', digest: digestOf(image), bytes });
      return this.#end(one, 'Succeeded', time, undefined, result);
    }
    if (pod?.status?.phase === 'Failed') {
      const result = JSON.stringify({
        outcome: 'failed',
        reason: 'retryable',
        message: 'the registry is away',
      });
      return this.#end(one, 'Failed', time, 'failed', result);
    }
    return false;
  }

  #end(
    one: Workflow,
    phase: 'Succeeded' | 'Failed' | 'Error',
    time: string,
    message?: string,
    result?: string,
  ): true {
    const outputs =
      result === undefined ? {} : { outputs: { parameters: [{ name: 'result', value: result }] } };
    const said = message === undefined ? {} : { message };
    this.#kube.put({ ...one, status: { ...one.status, phase, finishedAt: time, ...said, ...outputs } });
    return true;
  }

  #startPod(one: Workflow): void {
    const { name, namespace = '', uid = '' } = one.metadata;
    const place = placeOf(one);
    this.broken.push(...exceeded(this.#kube, one));
    for (const other of this.#kube.all(pods))
      if (other.status?.phase === 'Running' && other.metadata.annotations?.[placeAnnotation] === place)
        this.broken.push(`${name} and ${other.metadata.name} wrote to ${place} at one time`);
    this.#kube.put<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: { [workflowLabel]: name },
        annotations: { [placeAnnotation]: place, [imageAnnotation]: imageOf(one) },
        ownerReferences: [{ apiVersion: one.apiVersion, kind: one.kind, name, uid }],
      },
      status: { phase: 'Running' },
    });
  }

  #schedule(cron: CronWorkflow): boolean {
    const { active = [], succeeded = 0, failed = 0 } = cron.status ?? {};
    const run = active?.[0] && this.#kube.read(workflows, { ...cron.metadata, name: active[0].name });
    if (run && isOver(run)) {
      const counts =
        run.status?.phase === 'Succeeded' ? { succeeded: succeeded + 1 } : { failed: failed + 1 };
      this.#kube.put({ ...cron, status: { ...cron.status, active: [], ...counts } });
      return true;
    }
    if (run || cron.spec.suspend || succeeded >= 2 || isDeleting(cron)) return false;
    const name = `${cron.metadata.name}-${succeeded + failed}`;
    // Somebody deleted this run, and its pod has not ended: the next one comes minutes later.
    if (this.#kube.read(pods, { ...cron.metadata, name })) return false;
    const { namespace = '', uid = '' } = cron.metadata;
    const marks = cron.spec.workflowMetadata?.labels ?? {};
    const owner = { apiVersion: cron.apiVersion, kind: cron.kind, name: cron.metadata.name, uid };
    const metadata = { name, namespace, labels: marks, ownerReferences: [owner] };
    this.#kube.put({ apiVersion: cron.apiVersion, kind: 'Workflow', metadata, spec: cron.spec.workflowSpec });
    const lastScheduledTime = isoSeconds(this.#now() + this.skewMs);
    this.#kube.put({ ...cron, status: { ...cron.status, active: [{ name }], lastScheduledTime } });
    return true;
  }
}

/** The digest of an image, which its tag never leaves. */
export function digestOf(image: string): string {
  return `sha256:${Buffer.from(image).toString('hex').padEnd(64, '0').slice(0, 64)}`;
}

export function isOver({ status = {} }: Workflow): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed' || status.phase === 'Error';
}

/** Where the Workflow writes to. */
function placeOf(one: Workflow): string {
  return `${parameterOf(one, 'dstRemoteURL')}/${parameterOf(one, 'specOverride') || imageOf(one)}`;
}

function imageOf(one: Workflow): string {
  return parameterOf(one, 'specImage');
}

function parameterOf({ spec }: Workflow, wanted: string): string {
  return spec.arguments?.parameters?.find(({ name }) => name === wanted)?.value ?? '';
}

/** True for CronWorkflows and Workflows made for an ArtifactWorkflow. */
export function isOurs({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.artifact] !== undefined;
}
