import type { HealthCheck } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import { type KubeClient, listWatch } from '#shared/kube';
import type { Logger, Metrics } from '#shared/telemetry';
import { admissionKinds, inForce, type Kept, keep } from './admission-kinds.ts';
import type { Write } from './admission-rules.ts';

export interface ClusterAdmissionOptions {
  client: KubeClient;
  /** What may be selected. */
  writes: readonly Write[];
  log: Logger;
  metrics: Metrics;
  signal: AbortSignal;
}

export interface ClusterAdmission {
  /** Sentences for /readyz?verbose: what is not applied, and what we have no right to look at. */
  notices(): readonly string[];
  /** Throws until everything has been looked at, or is known to be out of reach. */
  check: HealthCheck['check'];
}

interface Followed {
  kind: string;
  plural: string;
  values(): Iterable<Kept>;
  /** `absent`: the cluster has no such API. `refused`: we may not read it. */
  state: 'unknown' | 'known' | 'absent' | 'refused';
}

/** Names in one line at most. */
const namesShown = 20;
/** Milliseconds: a cluster that lacks an API is asked for it again, but seldom. */
const backoff = { baseMs: 500, maxMs: 300_000 };

/**
 * Follows what a cluster has configured to be asked about writes: webhooks, policies, quotas of object counts.
 * kube-apiserver asks none of it for an aggregated server, and this server does not yet. So that nobody relies on it, what
 * selects our kinds is named in /readyz?verbose and in the log whenever it changes, and counted. An API that is absent and a
 * right that is missing are said and do no harm.
 */
export function followClusterAdmission(options: ClusterAdmissionOptions): ClusterAdmission {
  const { client, writes, log, metrics, signal } = options;
  const gauge = metrics.gauge({
    name: 'arc_api_server_unapplied_admission',
    help: 'Webhook configurations, policies and quotas of the cluster that select our kinds and are not applied.',
    labels: ['kind'],
  });
  const all: Followed[] = [];
  let notices: readonly string[] = [];
  let told = '';

  /** Once all is known: counts, and says in the log what has become different. */
  const tell = () => {
    if (all.length < admissionKinds.length || unknown(all).length > 0) return;
    const found = inForce(byKind(all));
    for (const { kind } of all) gauge.set(found.filter((each) => each.kind === kind).length, { kind });
    notices = [...unapplied(found), ...refused(all)];
    const now = [...notices, ...absent(all)].join('; ');
    if (now === told) return;
    told = now;
    const why = 'admission of the cluster';
    if (notices.length > 0) log.warn({ unapplied: found.length }, `${why}: ${now}`);
    else log.info(`${why}: nothing selects our kinds${now === '' ? '' : `; ${now}`}`);
  };

  for (const kind of admissionKinds) {
    const { known, done } = listWatch(
      client,
      kind,
      {
        keep: (object) => keep(object, writes),
        onChange: tell,
        onSync: () => become('known'),
        onFailure(error) {
          if (ArcError.is(error, 'NotFound')) become('absent');
          else if (ArcError.is(error, 'Forbidden')) become('refused');
          else log.warn({ err: error }, `cannot read ${kind.plural} yet`);
        },
      },
      { signal, backoff },
    );
    const followed: Followed = {
      ...{ kind: kind.kind, plural: kind.plural, state: 'unknown' },
      values: () => known.values(),
    };
    const become = (state: Followed['state']) => {
      followed.state = state;
      tell();
    };
    all.push(followed);
    done.catch((caught: unknown) =>
      log.error({ err: ArcError.from(caught) }, `${kind.plural} are followed no longer`),
    );
  }

  return {
    notices: () => notices,
    check() {
      const missing = unknown(all);
      if (missing.length > 0) throw new ArcError('ServiceUnavailable', `not read yet: ${missing.join(', ')}`);
    },
  };
}

const unknown = (all: readonly Followed[]) => pluralsIn(all, 'unknown');

/** What has gone from the cluster, or been taken from our sight, is no longer known. */
function byKind(all: readonly Followed[]): Map<string, Kept[]> {
  const kept = new Map<string, Kept[]>();
  for (const { kind, values, state } of all) {
    const known = state === 'known' ? [...values()] : [];
    // Versions of one kind show the same objects.
    const others = (kept.get(kind) ?? []).filter(({ name }) => !known.some((each) => each.name === name));
    kept.set(kind, [...others, ...known]);
  }
  return kept;
}

function unapplied(found: readonly { kind: string; name: string }[]): string[] {
  if (found.length === 0) return [];
  const names = found.slice(0, namesShown).map(({ kind, name }) => `${kind} "${name}"`);
  const more = found.length > namesShown ? ` and ${found.length - namesShown} more` : '';
  return [`not applied to writes of our kinds: ${names.join(', ')}${more}`];
}

function refused(all: readonly Followed[]): string[] {
  const plurals = pluralsIn(all, 'refused');
  return plurals.length === 0
    ? []
    : [`no right to list ${plurals.join(', ')}: what they ask for is not known`];
}

function absent(all: readonly Followed[]): string[] {
  const reachable = new Set(all.filter(({ state }) => state !== 'absent').map(({ plural }) => plural));
  const plurals = pluralsIn(all, 'absent').filter((plural) => !reachable.has(plural));
  return plurals.length === 0 ? [] : [`this cluster has no ${plurals.join(', ')}`];
}

function pluralsIn(all: readonly Followed[], state: Followed['state']): string[] {
  return [...new Set(all.filter((each) => each.state === state).map(({ plural }) => plural))];
}
