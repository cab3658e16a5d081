import { ArcError } from '#shared/base/errors';
import type { Logger, Metrics } from '#shared/base/telemetry';
import type { HealthCheck } from '#shared/kubernetes/apiserver';
import { type KubeClient, listWatch } from '#shared/kubernetes/client';
import { admissionKinds, inForce, type Selection, selectionOf } from './admission-kinds.ts';
import type { Write } from './admission-rules.ts';

export interface ClusterAdmissionOptions {
  client: KubeClient;
  /** The writes that a rule may select. */
  writes: readonly Write[];
  log: Logger;
  metrics: Metrics;
  signal: AbortSignal;
}

export interface ClusterAdmission {
  /** Sentences for /readyz?verbose: what is not applied, and what this server has no right to list. */
  notices(): readonly string[];
  /** Throws until every kind has been listed, or is known to be absent or forbidden. */
  check: HealthCheck['check'];
}

interface Followed {
  kind: string;
  plural: string;
  values(): Iterable<Selection>;
  /** `absent`: the cluster has no such API. `forbidden`: this server may not list it. */
  state: 'unknown' | 'known' | 'absent' | 'forbidden';
}

/** Most names in one line. */
const namesShown = 20;
/** Milliseconds. An API that is absent is looked for again, but seldom. */
const backoff = { baseMs: 500, maxMs: 300_000 };

/**
 * Follows the cluster's admission configuration: webhooks and policies. kube-apiserver does not apply it to the
 * objects of an aggregated server, and neither does this server yet. Nobody should rely on it unknowingly, so the objects that
 * select our kinds are named in /readyz?verbose and in the log whenever they change, and counted. An absent API or a
 * missing right is reported and has no other effect.
 */
export function followClusterAdmission(options: ClusterAdmissionOptions): ClusterAdmission {
  const { client, writes, log, metrics, signal } = options;
  const gauge = metrics.gauge({
    name: 'arc_api_server_unapplied_admission',
    help: 'Webhook configurations and policies of the cluster that select our kinds and are not applied.',
    labels: ['kind'],
  });
  const all: Followed[] = [];
  let notices: readonly string[] = [];
  let logged = '';

  /** Once every kind is known: counts the objects and logs what has changed. */
  const report = () => {
    if (all.length < admissionKinds.length || unknown(all).length > 0) return;
    const found = inForce(byKind(all));
    for (const { kind } of all) gauge.set(found.filter((each) => each.kind === kind).length, { kind });
    notices = [...unapplied(found), ...forbidden(all)];
    const now = [...notices, ...absent(all)].join('; ');
    if (now === logged) return;
    logged = now;
    const why = 'admission of the cluster';
    if (notices.length > 0) log.warn({ unapplied: found.length }, `${why}: ${now}`);
    else log.info(`${why}: nothing selects our kinds${now === '' ? '' : `; ${now}`}`);
  };

  for (const kind of admissionKinds) {
    const { known, done } = listWatch(
      client,
      kind,
      {
        keep: (object) => selectionOf(object, writes),
        onChange: report,
        onSync: () => setState('known'),
        onFailure(error) {
          if (ArcError.is(error, 'NotFound')) setState('absent');
          else if (ArcError.is(error, 'Forbidden')) setState('forbidden');
          else log.warn({ err: error }, `cannot read ${kind.plural} yet`);
        },
      },
      { signal, backoff },
    );
    const followed: Followed = {
      kind: kind.kind,
      plural: kind.plural,
      state: 'unknown',
      values: () => known.values(),
    };
    const setState = (state: Followed['state']) => {
      followed.state = state;
      report();
    };
    all.push(followed);
    done.catch((caught: unknown) =>
      log.error({ err: ArcError.from(caught) }, `stopped following ${kind.plural}`),
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

/** The selections of each kind that can be listed now. */
function byKind(all: readonly Followed[]): Map<string, Selection[]> {
  const kept = new Map<string, Selection[]>();
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

function forbidden(all: readonly Followed[]): string[] {
  const plurals = pluralsIn(all, 'forbidden');
  return plurals.length === 0
    ? []
    : [`no right to list ${plurals.join(', ')}: those that select our kinds are not known`];
}

function absent(all: readonly Followed[]): string[] {
  const reachable = new Set(all.filter(({ state }) => state !== 'absent').map(({ plural }) => plural));
  const plurals = pluralsIn(all, 'absent').filter((plural) => !reachable.has(plural));
  return plurals.length === 0 ? [] : [`this cluster has no ${plurals.join(', ')}`];
}

function pluralsIn(all: readonly Followed[], state: Followed['state']): string[] {
  return [...new Set(all.filter((each) => each.state === state).map(({ plural }) => plural))];
}
