import { within } from '#shared/base/async';

/** A check of /livez, /readyz and /healthz. */
export interface HealthCheck {
  /** The name in `/readyz/<name>`. */
  name: string;
  /** True: only /readyz runs the check, because a restart of the process would not help. */
  readyOnly?: boolean;
  /** Throws or rejects on failure. The error is logged, but not sent to the client. */
  check(): Promise<void> | void;
}

export interface HealthOptions {
  checks: readonly HealthCheck[];
  /** Warnings in the output of `?verbose` that do not fail the probe. */
  notices?: (() => readonly string[]) | undefined;
  log: (message: string, caught: unknown) => void;
}

const probes = ['livez', 'readyz', 'healthz'];
/** Timeout of a check. */
const checkTimeoutMs = 5_000;

/**
 * Serves /livez, /readyz and /healthz with `?verbose`, `?exclude=` and single checks (`/readyz/etcd`), in the format of k8s.io/apiserver,
 * server/healthz. Returns undefined for every other path.
 */
export async function health(url: URL, options: HealthOptions): Promise<Response | undefined> {
  const [, probe = '', only, ...more] = url.pathname.split('/');
  if (!probes.includes(probe) || more.length > 0) return undefined;
  const checks = options.checks.filter(({ readyOnly }) => probe === 'readyz' || !readyOnly);
  if (only) return singleCheck(checks, only, probe, options);
  const excluded = new Set(url.searchParams.getAll('exclude'));
  const included = checks.filter(({ name }) => !excluded.delete(name));
  const failed = await failures(included, options);
  if (failed.size === 0 && !url.searchParams.has('verbose')) return text('ok', 200);
  const lines = checks.map((check) => {
    if (!included.includes(check)) return `[+]${check.name} excluded: ok`;
    return failed.has(check) ? failedLine(check) : `[+]${check.name} ok`;
  });
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (probe === 'readyz') lines.push(...(options.notices?.() ?? []).map((notice) => `warn: ${notice}`));
  lines.push(`${probe} check ${failed.size === 0 ? 'passed' : 'failed'}`);
  return text(`${lines.join('\n')}\n`, failed.size === 0 ? 200 : 500);
}

async function singleCheck(
  checks: readonly HealthCheck[],
  name: string,
  probe: string,
  options: HealthOptions,
): Promise<Response | undefined> {
  const check = checks.find((each) => each.name === name);
  if (!check) return undefined;
  const failed = await failures([check], options);
  return failed.size === 0 ? text('ok', 200) : text(`${failedLine(check)}\n${probe} check failed\n`, 500);
}

async function failures(
  checks: readonly HealthCheck[],
  { log }: HealthOptions,
): Promise<ReadonlySet<HealthCheck>> {
  const failed = new Set<HealthCheck>();
  await Promise.all(
    checks.map(async (check) => {
      try {
        await within(checkTimeoutMs, 'the check', check.check());
      } catch (caught) {
        failed.add(check);
        log(`health check ${check.name} failed`, caught);
      }
    }),
  );
  return failed;
}

function failedLine({ name }: HealthCheck): string {
  return `[-]${name} failed: reason withheld`;
}

function text(body: string, status: number): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  return new Response(body, { status, headers });
}
