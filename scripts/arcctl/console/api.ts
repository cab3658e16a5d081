/** The JSON protocol between the console's server and its pages. Types only: both sides import them. */
import type { OrderProgress, Pace } from '../model/order-progress.ts';

/** Response of `GET /api/session`. */
export interface Session {
  /** Address of the API server. */
  server: string;
  /** The only visible namespace; absent: all. */
  namespace?: string;
  version: string;
  /** CSRF token, sent back in the header `x-arc-csrf` with each change. */
  csrf: string;
  /** Who has signed in; absent where nobody has to. */
  viewer?: Viewer;
}

export interface Viewer {
  /** As the cluster knows them. */
  name: string;
  /** They may not list the Orders of all namespaces: one has to be chosen. */
  mustChoose: boolean;
}

/** An entry of a list; changes refer to entries by id. */
export interface Row {
  id: string;
}

/** The data of a page: single values, and lists of rows. */
export interface View {
  values: Record<string, unknown>;
  lists: Record<string, readonly Row[]>;
}

/** Server-sent event `change`: changed values, new or changed rows, ids of removed rows. */
export interface Change {
  /** True for the first event of a stream, which is complete and replaces all previous data. */
  isWhole: boolean;
  values: Record<string, unknown>;
  lists: Record<string, { set: readonly Row[]; gone: readonly string[] }>;
}

/** Server-sent event `beat`, every few seconds: a heartbeat with the state of the connection to the cluster. */
export interface Beat {
  /** Why the data is stale; absent: it is current. */
  problem?: string;
  /** What the viewer may not read. */
  refused?: string;
}

export interface OrderRow extends Row {
  namespace: string;
  name: string;
  phase: string;
  message: string;
  created: string;
  started: string;
  completed: string;
  counts: Counts;
  /** The reasons for which artifacts wait, deduplicated. */
  waits: Wait[];
  /** True if an artifact needs attention. */
  needsPerson: boolean;
  types: string[];
}

export interface Wait {
  reason: string;
  count: number;
  needsPerson: boolean;
}

export interface Counts {
  total: number;
  succeeded: number;
  running: number;
  pending: number;
  failed: number;
  invalid: number;
  cancelled: number;
}

export interface Minute {
  atMs: number;
  bytes: number;
  arrived: number;
}

/** The value `order` of the view of a single Order. */
export interface OrderHead extends OrderRow {
  uid: string;
  /** Progress of the whole Order. */
  progress: OrderProgress;
  /** Names of the actions that are possible now. */
  actions: string[];
  isSuspended: boolean;
  isCancelled: boolean;
  labels: Record<string, string>;
}

export interface ArtifactRow extends Row {
  index: number;
  name: string;
  type: string;
  source: string;
  destination: string;
  /** One-line description: an image, a chart, a path. */
  subject: string;
  phase: string;
  reason: string;
  message: string;
  needsPerson: boolean;
  since: string;
  started: string;
  completed: string;
  nextAttempt: string;
  attempts: number;
  digest: string;
  /** Total bytes, copied or existing; 0: unknown. */
  bytes: number;
  copied: number;
  progress?: { done: number; total: number; isBytes: boolean };
  pace?: Pace;
  actions: string[];
  versions: VersionRow[];
}

export interface VersionRow {
  name: string;
  revision: number;
  inForce: boolean;
  phase: string;
  reason: string;
  message: string;
  created: string;
  completed: string;
  digest: string;
}

export interface EventRow extends Row {
  at: string;
  isWarning: boolean;
  reason: string;
  message: string;
  kind: string;
  namespace: string;
  name: string;
  count: number;
  component: string;
}

export interface EndpointRow extends Row {
  namespace: string;
  name: string;
  type: string;
  url: string;
  /** The sides that its usage allows. */
  sides: ('source' | 'destination')[];
  state: 'ready' | 'broken' | 'unknown';
  conditions: Condition[];
  lastProbe: string;
  inFlight: number;
  maxInFlight: number | null;
  hasCredentials: boolean;
  allowedTypes: string[];
  policy: string;
  /** Orders that use it, the newest first. */
  usedBy: { namespace: string; name: string; side: 'source' | 'destination' | 'both'; phase: string }[];
  users: number;
}

export interface TypeRow extends Row {
  /** Empty for a ClusterArtifactType. */
  namespace: string;
  name: string;
  template: string;
  sources: string[];
  destinations: string[];
  parameters: { name: string; value: string }[];
  /** OpenAPI v3 schema of `artifacts[].spec`. */
  schema?: Record<string, unknown>;
  hasPolicy: boolean;
  users: number;
}

export interface BundleRow extends Row {
  namespace: string;
  order: string;
  artifact: string;
  direction: 'export' | 'import';
  bundle: string;
  endpoint: string;
  phase: string;
  message: string;
  completed: string;
  bytes: number;
  items?: { total: number; copied: number; unchanged: number; failed: number };
}

export interface SettingRow extends Row {
  value: string;
  unset: string;
  what: string;
  problem: string;
}

export interface Settings {
  rows: SettingRow[];
  /** Why the settings could not be read; absent: they were read. */
  problem?: string;
}

export interface Finding {
  check: string;
  state: 'ok' | 'bad' | 'warn' | 'unknown';
  message: string;
  fix?: string;
}

/** The runs and pods of an Order, for the graph. */
export interface Runs {
  artifacts: { index: number; versions: RunsOfVersion[] }[];
  /** The kinds that could not be read, with the reason. */
  unread: string[];
}

export interface RunsOfVersion {
  name: string;
  runs: { kind: string; name: string; attempt: number; phase: string; message: string; pods: PodRow[] }[];
}

export interface PodRow {
  name: string;
  phase: string;
  reason: string;
  message: string;
}

/** One line of a live log. */
export interface LogLine {
  artifact: string;
  text: string;
}

export interface LogPart {
  head: string;
  text: string;
}

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** The preview of an Order that does not exist yet. */
export interface DryRun {
  /** The Order as YAML. */
  manifest: string;
  /** Why the API rejects it; absent: it is valid. */
  refused?: string;
  outcomes: { artifact: string; type: string; action: string; reason: string; message: string }[];
}

/** The body of every error response. */
export interface Problem {
  code: string;
  message: string;
  /** Where to sign in; absent where nobody does. */
  signIn?: string;
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  since: string;
}
