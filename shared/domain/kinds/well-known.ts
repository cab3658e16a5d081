/** Every label, annotation and finalizer that the conduit writes or reads. */
export const labels = {
  /** 16 hex digits shared by the versions of one artifact of one Order. */
  artifact: 'arc.opendefense.cloud/artifact',
  /** 16 hex digits of the place at the destination, shared by all ArtifactWorkflows that write there. */
  target: 'arc.opendefense.cloud/target',
  /** The artifact's type, absent where it is not a valid label value. */
  artifactType: 'arc.opendefense.cloud/artifact-type',
  /** Uid of the Order that owns an ArtifactWorkflow: the selector for its children. */
  order: 'arc.opendefense.cloud/order',
  /** Its name, for people who select with kubectl: on ArtifactWorkflows and what they start, absent where it is longer than a label value. */
  orderName: 'arc.opendefense.cloud/order-name',
  /** `true` on a finished ArtifactWorkflow once a later version of its artifact is in force. */
  superseded: 'arc.opendefense.cloud/superseded',
  /** Name of the ArtifactWorkflow, on Workflows, CronWorkflows and the objects they create. */
  artifactWorkflow: 'arc.opendefense.cloud/artifact-workflow',
  /** Number of the attempt that a Workflow runs, from 1. */
  attempt: 'arc.opendefense.cloud/attempt',
  queue: 'kueue.x-k8s.io/queue-name',
  /** Kueue's, on a Workload: the uid of its pod. */
  workloadPod: 'kueue.x-k8s.io/job-uid',
  argoInstance: 'workflows.argoproj.io/controller-instanceid',
  /** Argo's, on a pod: the name of its Workflow. */
  argoWorkflow: 'workflows.argoproj.io/workflow',
  /** Argo's, on a Workflow: the name of the CronWorkflow that created it. */
  argoCronWorkflow: 'workflows.argoproj.io/cron-workflow',
} as const;

export const annotations = {
  /** Unix seconds: run everything again. */
  forceAt: 'arc.opendefense.cloud/force-at',
  /** Unix seconds: run what failed again. */
  retryAt: 'arc.opendefense.cloud/retry-at',
  /** On an Endpoint: each new value asks for a probe. */
  probeAt: 'arc.opendefense.cloud/probe-at',
  /** Who last requested an action, and when, as JSON. Only the API server writes it. */
  requestedBy: 'arc.opendefense.cloud/requested-by',
  /** The force time of the Order that an ArtifactWorkflow was made for. */
  orderForceAt: 'arc.opendefense.cloud/order-force-at',
  /** On an ArtifactWorkflow whose `spec.cancel` follows its Order; absent where the cancel was requested on the ArtifactWorkflow itself. */
  orderCancel: 'arc.opendefense.cloud/order-cancel',
  /** On a Workflow that was stopped because its ArtifactWorkflow was cancelled: when, in RFC 3339. */
  cancelledAt: 'arc.opendefense.cloud/cancelled-at',
  /** On an Order, by decompose-order: the ArtifactWorkflows that the API server refused to create, as `Refusals`. */
  refused: 'arc.opendefense.cloud/refused',
  /** On an ArtifactWorkflow: why the artifact runs again; absent on its first run. */
  cause: 'arc.opendefense.cloud/cause',
  /** Hash of what the user wrote for a named artifact: tells an edit from a change of an Endpoint or type. */
  content: 'arc.opendefense.cloud/content',
  /** Argo's, on a pod: the id of its node. */
  argoNode: 'workflows.argoproj.io/node-id',
  /** On a ClusterWorkflowTemplate, `true`: every transfer of its steps is done by the transfer-worker, which applies the policies of its job. */
  appliesPolicies: 'arc.opendefense.cloud/applies-policies',
  /** On a Workflow or CronWorkflow that was created suspended, until it is released. */
  unreleased: 'arc.opendefense.cloud/unreleased',
  /** On a Workflow or CronWorkflow: `spec.revision` of its ArtifactWorkflow. */
  revision: 'arc.opendefense.cloud/revision',
  /** On a Workflow without owner, by `arcctl restore`: the uid of its ArtifactWorkflow, which the backup does not have. */
  lostOwner: 'arc.opendefense.cloud/lost-owner',
  /** On an object that `arcctl migrate` took over from the Go ARC: its uid there. */
  migratedFrom: 'arc.opendefense.cloud/migrated-from',
} as const;

export const finalizers = {
  /** On an Order, kept by decompose-order until its ArtifactWorkflows are gone. */
  children: 'arc.opendefense.cloud/children',
  /** On an ArtifactWorkflow, kept by submit-workflow until its Workflow is stopped. */
  workflow: 'arc.opendefense.cloud/workflow',
} as const;

/** The ServiceAccount that the shipped templates run under, from knative/tenant. A namespace with this account was given to ARC. */
export const tenantAccount = 'arc-workflow';

/** The name that a template gets in place of a Secret that does not exist; volumes with `optional: true` may mount it. */
export const absentSecretName = 'arc-no-secret';

/** The parameter of a type that holds a policy as JSON. Artifacts cannot set it: their fields become parameters named `spec...`. */
export const policyParameter = 'policy';

/** The parameter of a type that makes its transfers attested: `true` or `false`. */
export const attestParameter = 'attest';

/** The type of Endpoints that hold bundles; their Secrets hold keys. */
export const bundleType = 'bundle';

/** The key of the rendered Secret that holds the Job as JSON. */
export const jobKey = 'job.json';

/** Parses Unix seconds from an annotation; 0 where it is absent or not a whole number of at most 12 digits. */
export function unixSeconds(text: string | undefined): number {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : 0;
}
