import { largestObjectBytes } from '#shared/base/meta';

/** Kubernetes: the name of an object is an RFC 1123 subdomain (k8s.io/apimachinery, pkg/util/validation). Characters. */
export const longestObjectName = 253;
/** Kubernetes: the value of a label. Characters. */
export const longestLabelValue = 63;

/** Argo (workflow/validate, util.go): the name of a Workflow is used as a label value; a CronWorkflow's gets a suffix. */
export const longestWorkflowName = longestLabelValue;
export const longestCronWorkflowName = 52;

/** Hex digits of an artifact's id and of a version's key. */
export const hashDigits = 16;
/** Characters of `-<attempt>` with up to four digits. */
export const attemptSuffix = 5;

/** Characters of a duration: far longer than any meaningful one. */
export const longestDuration = 64;
/** Ten years: a longer duration is a mistake, and may exceed the range of a Date. */
export const longestDurationMs = 87_600 * 3_600_000;
/** Characters of one schedule. */
export const longestSchedule = 256;
/** Characters of an Endpoint's URL. */
export const longestUrl = 2_048;
/** Hosts of an Endpoint's token service. */
export const mostTokenHosts = 10;
/** Allowed types of an Endpoint. */
export const mostAllowedTypes = 100;
export const mostRedirectHosts = 50;
/** Schedules of one cron, and distinct schedules of an Order: checking a schedule takes time. */
export const mostCronSchedules = 10;
export const mostSchedules = 100;
/** Default minimum interval between two runs of a schedule. */
export const shortestCronIntervalMs = 600_000;
/** Nodes of a type's schema, and characters of a pattern in it: every artifact of the type pays for each. */
export const mostSchemaNodes = 1_000;
export const longestPattern = 1_000;
/** Levels of nesting in a value that a user writes. */
export const deepestNesting = 32;
/** Default number of attempts after a failure that the worker calls retryable. */
export const defaultRetries = 2;
/** Default backoff before the second attempt, doubled for each further attempt. */
export const defaultBackoffMs = 10_000;
export const longestBackoffMs = 3_600_000;

/** Default limit on the artifacts of a namespace that force and retry run again per minute: about the throughput of one conduit. */
export const defaultRerunsPerMinute = 1_000;

/** Default number of finished versions kept per artifact, beside the version in force. */
export const defaultHistoryLimit = 3;

/**
 * Bytes of a text in a status, in JSON. All texts come from outside: workers, templates, registries.
 * An ArtifactWorkflow's failure contains the messages of the worker and of Argo.
 */
export const longestMessage = 2_048;
export const longestFailure = 3 * longestMessage;
export const longestConditionMessage = 256;
/** Characters of the artifact's message that an Order's message quotes. */
export const longestQuotedMessage = 300;

/** Limits on a worker's results: characters of the JSON, then bytes of its fields. */
export const longestResults = 65_536;
export const longestReason = 64;
/** `sha512:` and 128 hex digits. */
export const longestDigest = 136;
export const longestMediaType = 256;
/** Policies of one transfer in its results. */
export const mostPolicies = 20;
/** SBOMs by which an artifact passed that its results name. */
export const mostSboms = 20;
export const mostWarnings = 10;
export const longestWarning = 512;
/** Items in the results of an artifact that selects several, and bytes of each name. */
export const mostItems = 20;
export const longestItem = 300;
/** Failed steps that a failure quotes. */
export const mostFailedSteps = 3;

/** Bytes of an Order's status, a little less than half of the largest object: the list of artifacts in the spec takes as much. */
export const largestOrderStatus = Math.floor(0.45 * largestObjectBytes);
/** Bytes that a message in an Order's status keeps, however many artifacts the Order has. */
export const shortestMessage = 32;

/**
 * What one namespace may hold of a kind, unless the operator says otherwise: together some 600 MiB, a thirteenth of an etcd of 8 GiB. An Order
 * of one artifact takes 3 to 4 KiB, and so does an ArtifactWorkflow.
 */
const mebibyte = 1024 * 1024;
export const namespaceDefaults = {
  orders: { objects: 30_000, bytes: 64 * mebibyte },
  artifactworkflows: { objects: 100_000, bytes: 512 * mebibyte },
  endpoints: { objects: 1_000, bytes: 16 * mebibyte },
  artifacttypes: { objects: 1_000, bytes: 16 * mebibyte },
} as const;
/** Default limit on the bytes written to a namespace per minute: etcd keeps up to ten minutes of history, a thirteenth of 8 GiB. */
export const defaultWriteRate = 64 * mebibyte;
