import type { Store } from '#shared/storage';

/** Answers /livez, /readyz and /healthz, each with `?verbose`, `?exclude=` and one check by name (`/readyz/store`). */
export async function health(
  url: URL,
  store: Store,
  closing: boolean,
  log: (message: string, caught: unknown) => void,
): Promise<Response | undefined> {
  const [, probe, only, ...more] = url.pathname.split('/');
  if ((probe !== 'livez' && probe !== 'readyz' && probe !== 'healthz') || more.length > 0) return undefined;
  const excluded = new Set(url.searchParams.getAll('exclude'));
  const checks = [
    { name: 'ping', ok: true },
    { name: 'store', ok: await answers(store, log) },
  ];
  if (probe === 'readyz') checks.push({ name: 'shutdown', ok: !closing });
  const asked = checks.filter(({ name }) => (only ? name === only : !excluded.has(name)));
  if (only && asked.length === 0) return undefined;
  const healthy = asked.every(({ ok }) => ok);
  if (healthy && !url.searchParams.has('verbose')) return text('ok', 200);
  const shown = only ? asked : checks;
  const lines = shown.map(({ name, ok }) => {
    if (excluded.has(name) && !only) return `[+]${name} excluded: ok`;
    return ok ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
  });
  const verdict = `${probe} check ${healthy ? 'passed' : 'failed'}`;
  return text(`${[...lines, verdict].join('\n')}\n`, healthy ? 200 : 500);
}

async function answers(store: Store, log: (message: string, caught: unknown) => void): Promise<boolean> {
  try {
    await store.revision();
    return true;
  } catch (caught) {
    log('the store does not answer a health check', caught);
    return false;
  }
}

function text(body: string, status: number): Response {
  return new Response(body, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
}
