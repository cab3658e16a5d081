import type { Clock } from '#shared/async';
import type { Endpoint, Order } from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import type { References } from '../watches/references.ts';
import { SecondLooks } from './second-looks.ts';
import { Sweep } from './sweep.ts';

/** True for an Endpoint whose Secret track-credentials has looked for, and never found. */
export function isSecretMissing({ metadata, spec, status }: Endpoint): boolean {
  const isSeen = status?.observedGeneration === metadata.generation;
  return isSeen && spec.secretRef !== undefined && status?.secretGeneration === undefined;
}

export interface CredentialLooksOptions {
  clock: Clock;
  random: () => number;
  /** ms between two looks at an Endpoint that unfinished work uses. */
  everyMs: number;
  references: References;
  /** The Orders and ArtifactWorkflows that are not settled. */
  unsettled(): Iterable<KubeObject>;
  /** Wakes the Endpoint; `epoch` differs each time. */
  look(endpoint: KubeObject, epoch: string): void;
}

/**
 * When the Secrets of Endpoints are looked at, though nobody may watch them, and even then an event may be lost: often while unfinished
 * work uses them, and when such work begins. Endpoints that nothing uses are looked at when they are resynced with all that is settled.
 *
 * Each shard sees to the Endpoints that its own work uses, so an Endpoint may be looked at by several: that is cheap, and none need know the
 * work of the others.
 */
export class CredentialLooks {
  readonly #options: CredentialLooksOptions;
  readonly #sweep: Sweep<KubeObject>;
  readonly #secondLooks: SecondLooks;
  /** By uid of the Endpoint, ms since the epoch. */
  readonly #lastLooks = new Map<string, number>();

  constructor(options: CredentialLooksOptions) {
    const { clock, random, everyMs } = options;
    this.#options = options;
    this.#sweep = new Sweep({
      clock,
      random,
      everyMs,
      select: () => this.#inUse(),
      wake: (_uid, endpoint) => this.#look(endpoint),
    });
    this.#secondLooks = new SecondLooks(clock, (endpoint) => this.#look(endpoint));
  }

  /** Takes the newest state of an Endpoint. */
  update(object: KubeObject): void {
    const missing = this.#put(object);
    if (missing !== undefined) this.#secondLooks.update(object, missing);
  }

  /** The same for one of another shard, which sees to it when it comes without its Secret. */
  updateForeign(object: KubeObject): void {
    this.#put(object);
  }

  /** Returns what the Endpoint lacks. */
  #put(object: KubeObject): string | undefined {
    const endpoint = object as unknown as Endpoint;
    const { uid = '' } = endpoint.metadata;
    const { secretRef, tls } = endpoint.spec;
    if ((secretRef ?? tls?.caSecretRef) === undefined) {
      this.forget(uid);
      return undefined;
    }
    // A change that makes it known wakes it as well.
    if (!this.#lastLooks.has(uid)) this.#lastLooks.set(uid, this.#options.clock.now());
    this.#sweep.set(uid, object);
    const missing = lacks(endpoint);
    if (missing === undefined) this.#secondLooks.forget(uid);
    return missing;
  }

  /** Work begins: Endpoints of the Order that were at rest are looked at now, or it would run with the old count and again with the new one. */
  begin(order: Order): void {
    const { clock, everyMs, references } = this.#options;
    for (const { metadata } of references.endpointsOf(order)) {
      const { uid = '' } = metadata;
      const endpoint = this.#sweep.get(uid);
      const last = this.#lastLooks.get(uid) ?? 0;
      // A sweep may be late by a quarter.
      if (endpoint === undefined) continue;
      if (clock.now() - last > 1.5 * everyMs) this.#look(endpoint);
      const missing = lacks(endpoint as unknown as Endpoint);
      if (missing !== undefined) this.#secondLooks.begin(endpoint, missing);
    }
  }

  forget(uid: string): void {
    this.#sweep.delete(uid);
    this.#secondLooks.forget(uid);
    this.#lastLooks.delete(uid);
  }

  close(): void {
    this.#sweep.close();
    this.#secondLooks.close();
  }

  #look(endpoint: KubeObject): void {
    const now = this.#options.clock.now();
    this.#lastLooks.set(endpoint.metadata.uid ?? '', now);
    this.#options.look(endpoint, String(now));
  }

  /** What unfinished work uses, and what Orders wait for: an Endpoint whose Secret has never been there. */
  #inUse(): (object: KubeObject) => boolean {
    const { references, unsettled } = this.#options;
    const inUse = references.endpointsUsedBy(unsettled());
    return (object) => {
      const { namespace = '', name } = object.metadata;
      const isMissing = isSecretMissing(object as unknown as Endpoint);
      return inUse.has(`${namespace}/${name}`) || (isMissing && references.hasOrderUsing(namespace, name));
    };
  }
}

/** The Secret that is missing, as of which generation. */
function lacks(endpoint: Endpoint): string | undefined {
  return isSecretMissing(endpoint) ? String(endpoint.metadata.generation) : undefined;
}
