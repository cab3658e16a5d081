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

/** Characters of a duration: far more than any that can be meant. */
export const longestDuration = 64;
/** Ten years: a later time is a mistake, and far later ones are beyond the calendar of a Date. */
export const longestDurationMs = 87_600 * 3_600_000;
/** Characters of one schedule. */
export const longestSchedule = 256;
/** Characters of an Endpoint's URL. */
export const longestUrl = 2_048;
/** Most hosts of an Endpoint's token service. */
export const mostTokenHosts = 10;
/** Most types that an Endpoint lets use it. */
export const mostAllowedTypes = 100;
export const mostRedirectHosts = 50;
/** Most schedules of one cron, and most different ones in an Order: to check one takes time. */
export const mostCronSchedules = 10;
export const mostSchedules = 100;
/** The least time between two runs of a schedule, unless the operator sets another. */
export const shortestCronIntervalMs = 600_000;
/** Parts of a type's schema, and characters of a pattern in it: each is paid for with every artifact of the type. */
export const mostSchemaNodes = 1_000;
export const longestPattern = 1_000;
/** Most levels of nesting in a value that a user writes. */
export const deepestNesting = 32;
/** Further attempts after a failure that the worker calls retryable, where neither Order nor type sets a limit. */
export const defaultRetries = 2;
/** The wait before the first further attempt, doubled for each after it. */
export const defaultBackoffMs = 10_000;
export const longestBackoffMs = 3_600_000;

/** Artifacts of a namespace that force and retry run again in a minute, unless the operator says otherwise: about what one conduit moves. */
export const defaultRerunsPerMinute = 1_000;

/** Finished versions of one artifact that are kept beside the one in force, unless the Order says otherwise. */
export const defaultHistoryLimit = 3;

/**
 * Bytes of texts in a status, as JSON prints them. All texts come from outside: workers, templates, registries.
 * An ArtifactWorkflow's failure holds the worker's message and those of Argo.
 */
export const longestMessage = 2_048;
export const longestFailure = 3 * longestMessage;
export const longestConditionMessage = 256;
/** Of the artifact that an Order's message quotes, in characters. */
export const longestQuotedMessage = 300;

/** What is read of a worker's results: characters of the JSON, then bytes of its fields. */
export const longestResults = 65_536;
export const longestReason = 64;
/** `sha512:` and 128 hex digits. */
export const longestDigest = 136;
export const longestMediaType = 256;
/** Policies of one transfer that its results name. */
export const mostPolicies = 20;
export const mostWarnings = 10;
export const longestWarning = 512;
/** Items of an artifact that stands for several, and bytes of what each of them is called. */
export const mostItems = 20;
export const longestItem = 300;
/** Most failed steps that a failure quotes. */
export const mostFailedSteps = 3;

/** Bytes of an Order's status, a little less than half of the largest object: the spec is as long as the list of artifacts. */
export const largestOrderStatus = Math.floor(0.45 * largestObjectBytes);
/** Bytes that a message in an Order's status keeps, however many artifacts there are. */
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
/** Bytes that one namespace may write in a minute: etcd keeps history for up to ten, which is a thirteenth of 8 GiB. */
export const defaultWriteRate = 64 * mebibyte;
