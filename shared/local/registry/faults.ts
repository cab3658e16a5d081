/** A fault that the registry can inject. All but `status` and `reset` spoil an otherwise correct answer. */
export type Fault =
  | { kind: 'status'; status: number; retryAfter?: string; message?: string }
  /** The connection is reset before anything is answered. */
  | { kind: 'reset' }
  /** The promised length is kept only for the first `bytes`; then the connection ends. */
  | { kind: 'truncate'; bytes: number }
  /** One byte of the body is another one. */
  | { kind: 'corrupt' }
  /** `bytes` at a time with `everyMs` between. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** Nothing is answered until the client goes. */
  | { kind: 'hang' }
  /** Sent elsewhere, as registries do that keep blobs in an object store. */
  | { kind: 'redirect'; to: string };

/** Which requests a fault befalls: all conditions given must hold. */
export interface FaultRule {
  fault: Fault;
  method?: string;
  /** Looked for in path and query. */
  path?: RegExp;
  /** How many requests it befalls; without it every one. */
  times?: number;
}

/** The faults of one registry; the first rule that fits a request is used. */
export interface Faults {
  add(rule: FaultRule): void;
  clear(): void;
  /** The fault for this request, which counts as one of its times. */
  take(method: string, pathAndQuery: string): Fault | undefined;
}

/** A list of faults, initially `rules`. */
export function createFaults(rules: readonly FaultRule[] = []): Faults {
  let live = rules.map((rule) => ({ ...rule }));
  return {
    add: (rule) => void live.push({ ...rule }),
    clear: () => {
      live = [];
    },
    take(method, pathAndQuery) {
      const rule = live.find(
        (each) =>
          (each.times ?? 1) > 0 &&
          (each.method === undefined || each.method === method) &&
          (each.path === undefined || each.path.test(pathAndQuery)),
      );
      if (rule?.times !== undefined) rule.times -= 1;
      return rule?.fault;
    },
  };
}
