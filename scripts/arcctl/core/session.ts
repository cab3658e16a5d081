import type { Command } from 'commander';
import { ArcError } from '#shared/base/errors';
import { parseDuration } from '#shared/domain';
import {
  type ClusterAccess,
  createKubeClient,
  createTransport,
  type KubeClient,
  programAccess,
  type Transport,
} from '#shared/kubernetes/client';
import { version } from '../../version/version.ts';
import { exitCodes, Failure, usage } from './failure.ts';
import type { Io } from './io.ts';

/** Options of every command; names and semantics as in kubectl. */
export interface GlobalOptions {
  namespace?: string;
  context?: string;
  kubeconfig?: string;
  as?: string;
  asGroup?: string[];
  asUid?: string;
  requestTimeout?: string;
}

/** The cluster of a command, with credentials. */
export interface Cluster {
  api: KubeClient;
  /** For requests without a client method: tables, actions, dry runs, logs. */
  transport: Transport;
  server: string;
  /** The namespace from `-n`, the context, or `default`. */
  namespace: string;
  /** Formats an arcctl command for the same cluster and namespace: `retry app` becomes `arcctl retry app -n team`. */
  hint(words: string): string;
}

/** Reads the kubeconfig and credentials. Sends no request. */
export async function connect(io: Io, options: GlobalOptions): Promise<Cluster> {
  const { as: user, asGroup: groups, asUid: uid, kubeconfig, context } = options;
  if (user === undefined && (groups !== undefined || uid !== undefined))
    throw usage('--as-group and --as-uid require --as');
  const impersonation =
    user === undefined ? undefined : { user, ...(groups && { groups }), ...(uid && { uid }) };
  const access = await programAccess(io.env, { kubeconfig, context, impersonation }).catch(
    (caught: unknown) => {
      throw new Failure(
        exitCodes.unreachable,
        `${ArcError.from(caught).message}\nChoose another kubeconfig with --kubeconfig; "npm start" prints that of the standalone.`,
      );
    },
  );
  const settings = {
    ...withWarnings(access, io),
    userAgent: `arcctl/${version}`,
    deadlineMs: requestTimeout(options.requestTimeout),
  };
  return {
    api: createKubeClient(settings),
    transport: createTransport(settings),
    server: access.server,
    namespace: options.namespace ?? access.namespace ?? 'default',
    hint: (words) => ['arcctl', words, ...givenOptions(options)].join(' '),
  };
}

/** Returns the options that selected cluster and namespace, without impersonation. */
function givenOptions({ namespace, context, kubeconfig }: GlobalOptions): string[] {
  const given = { '-n': namespace, '--context': context, '--kubeconfig': kubeconfig };
  return Object.entries(given).flatMap(([option, value]) =>
    value === undefined ? [] : [`${option} ${quotedWord(value)}`],
  );
}

/** Quotes a word for a shell. */
function quotedWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the global options given to `command` or before it. */
export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}

/** Parses a timeout to milliseconds; as in kubectl a plain number is in seconds, and 0 means no limit. */
export function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationOf(text, '--request-timeout');
  return ms === 0 ? Number.POSITIVE_INFINITY : ms;
}

/** Parses a Go duration, or a number of seconds, to milliseconds. */
export function durationOf(text: string, option: string): number {
  const ms = parseDuration(/^\d{1,9}$/.test(text) ? `${text}s` : text);
  if (ms === undefined || ms < 0)
    throw usage(`${option} ${JSON.stringify(text)}: give a duration such as 30s, 5m or 1h30m`);
  return Math.min(ms, 2 ** 31 - 1);
}

/** Prints each warning of the API once, as kubectl does (RFC 9111, section 5.5: `299 - "text"`). */
function withWarnings(access: ClusterAccess, io: Io): ClusterAccess {
  const { fetch } = access;
  if (fetch === undefined) return access;
  const seen = new Set<string>();
  return {
    ...access,
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      for (const text of warningsIn(answer.headers.get('warning') ?? ''))
        if (seen.size < 100 && !seen.has(text)) io.note(`Warning: ${seen.add(text) && text}`);
      return answer;
    },
  };
}

/** Returns the texts of a Warning header, which may contain several. */
export function warningsIn(header: string): string[] {
  return [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  );
}
