import { type ArtifactWorkflow, isFinished, limitingEndpoints } from '#shared/domain';
import type { KubeObject } from '#shared/meta';

/** The unfinished ArtifactWorkflows of other shards that an Endpoint limits: on them depends who is next. There are few, so they are kept whole. */
export class ForeignSlots {
  readonly #workflows = new Map<string, ArtifactWorkflow>();
  /** By <namespace>/<Endpoint>. */
  readonly #limited = new Map<string, Set<string>>();

  /** Takes the newest state of one of another shard. */
  put(workflow: ArtifactWorkflow): void {
    const { uid = '' } = workflow.metadata;
    this.remove(workflow);
    const keys = isFinished(workflow) ? [] : keysOf(workflow);
    if (keys.length > 0) this.#workflows.set(uid, workflow);
    for (const key of keys) this.#limited.set(key, (this.#limited.get(key) ?? new Set()).add(uid));
  }

  /** The object is gone, or of this shard now. */
  remove({ metadata: { uid = '' } }: Pick<KubeObject, 'metadata'>): void {
    const known = this.#workflows.get(uid);
    if (known === undefined) return;
    this.#workflows.delete(uid);
    for (const key of keysOf(known)) {
      const limited = this.#limited.get(key);
      limited?.delete(uid);
      if (limited?.size === 0) this.#limited.delete(key);
    }
  }

  limitedBy(namespace: string, endpoint: string): ArtifactWorkflow[] {
    const uids = this.#limited.get(`${namespace}/${endpoint}`) ?? [];
    return [...uids].flatMap((uid) => this.#workflows.get(uid) ?? []);
  }
}

function keysOf(workflow: ArtifactWorkflow): string[] {
  return limitingEndpoints(workflow).map((name) => `${workflow.metadata.namespace ?? ''}/${name}`);
}
