/**
 * How long a function takes at most, in seconds; knative/base is made to fit, and test/contract/manifests.test.ts says so.
 *
 * A broker gives up after the Trigger's `delivery.timeout` and queue-proxy after the revision's `timeoutSeconds`; neither tells why, so
 * our own deadline comes first. When a pod ends, queue-proxy waits until nothing has arrived for 30 s before the function is
 * told: what is in hand then has `deadline` - 30 s left, and `drain` covers that. An event of a few hundred bytes that is not here
 * after `arrival` comes from a sender that holds places: there are only so many.
 */
export const times = { deadline: 50, drain: 25, arrival: 5 } as const;
