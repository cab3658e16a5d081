import type { Store } from '#shared/kubernetes/storage';
import type { Admission } from '../admission/chain.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Quota } from '../quota/quota.ts';

/** The context that all requests to one server share. */
export interface ServerContext {
  kinds: readonly KindDefinition[];
  store: Store;
  admission: Admission;
  /** Undefined where namespaces may hold whatever fits. */
  quota: Quota | undefined;
  /** For rights beyond the one that the request itself needs. */
  authorize: Authorizer;
  now: () => Date;
  /** Aborted when the server shuts down: watches end, requests finish. */
  closing: AbortSignal;
  /** Milliseconds over which watches end after `closing`. */
  spreadMs: () => number;
  /** Called for every event that is sent to a watch, with its size in bytes. */
  onWatchEvent?: ((definition: KindDefinition, bytes: number) => void) | undefined;
  /** Logs failures that no response can report, because it has begun already or must not show them. */
  log: (message: string, caught: unknown) => void;
}
