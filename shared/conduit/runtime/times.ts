/**
 * Bounds of a function, in seconds; test/contract/manifests.test.ts compares knative/base with them.
 *
 * A broker gives up after the Trigger's `delivery.timeout` and queue-proxy after the revision's `timeoutSeconds`; neither says why, so
 * our own deadline comes first. When a pod stops, queue-proxy signals the function only after 30 s without a new request: a
 * delivery in flight then has `deadline` - 30 s left, which `drain` covers. `arrival` bounds how long a slow sender can occupy one
 * of the limited deliveries: an event has only a few hundred bytes.
 */
export const times = { deadline: 50, drain: 25, arrival: 5 } as const;
