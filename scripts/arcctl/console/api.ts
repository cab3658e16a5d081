/** What the console's server and its pages say to each other. Types only: both sides import them. */

/** Answer of `GET /api/session`. */
export interface Session {
  /** Address of the API server. */
  server: string;
  /** The one namespace that is shown; absent: all. */
  namespace?: string;
  version: string;
  /** Sent back in the header `x-arc-csrf` with each change. */
  csrf: string;
}

/** Every entry of a list has an id, by which changes name it. */
export interface Row {
  id: string;
}

/** What a page shows: single values, and lists of rows. */
export interface View {
  values: Record<string, unknown>;
  lists: Record<string, readonly Row[]>;
}

/** Server-sent event `change`: values that differ, rows that are new or differ, ids of rows that are no longer there. */
export interface Change {
  /** True for the first one of a stream, which has everything: forget what was known. */
  isWhole: boolean;
  values: Record<string, unknown>;
  lists: Record<string, { set: readonly Row[]; gone: readonly string[] }>;
}

/** Server-sent event `beat`, every few seconds: the server is there, and what it cannot reach. */
export interface Beat {
  /** Why what is shown is not current; absent: it is. */
  problem?: string;
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
  /** What its artifacts wait for: each reason once. */
  waits: Wait[];
  /** Whether something waits for a person. */
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

export interface Pace {
  bytesPerSecond: number;
  secondsLeft: number;
}

/** The value `order` of the view of one Order. */
export interface OrderHead extends OrderRow {
  uid: string;
  /** Of the whole Order. */
  progress: OrderProgress;
  /** Names of the actions that can work now. */
  actions: string[];
  isSuspended: boolean;
  isCancelled: boolean;
  labels: Record<string, string>;
}

export interface OrderProgress {
  /** 0 to 1. */
  share: number;
  /** Bytes that are at their destinations, moved or found there. */
  bytes: number;
  /** True where some sizes are not known yet, and are estimated from the others. */
  isEstimate: boolean;
  bytesPerSecond?: number;
  secondsLeft?: number;
}

export interface ArtifactRow extends Row {
  index: number;
  name: string;
  type: string;
  source: string;
  destination: string;
  /** What it is, in a line: an image, a chart, a path. */
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
  /** Bytes of the whole, moved or there already; 0: not known. */
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
  usage: string;
  state: 'ready' | 'broken' | 'unknown';
  conditions: Condition[];
  lastProbe: string;
  inFlight: number;
  maxInFlight: number | null;
  hasCredentials: boolean;
  allowedTypes: string[];
  policy: string;
  /** Orders that name it, the newest first. */
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
  /** OpenAPI v3 of `artifacts[].spec`. */
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
  /** Why they could not be read; absent: they were. */
  problem?: string;
}

export interface Finding {
  check: string;
  state: 'ok' | 'bad' | 'warn' | 'unknown';
  message: string;
  fix?: string;
}

/** An Order with its runs and pods, for the graph. */
export interface Runs {
  artifacts: { index: number; versions: RunsOfVersion[] }[];
  /** What could not be read, and why. */
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

/** What would become of an Order that is not made yet. */
export interface DryRun {
  /** The Order as YAML. */
  manifest: string;
  /** Why the API refuses it; absent: it does not. */
  refused?: string;
  outcomes: { artifact: string; type: string; action: string; reason: string; message: string }[];
}

/** The body of every answer that is no success. */
export interface Problem {
  code: string;
  message: string;
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  since: string;
}
