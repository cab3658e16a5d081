/** Node's default limit for the headers of a response. */
const maxHeaderLength = 16 * 1024;

/**
 * The URL of the next page in a `Link` header (RFC 8288: `<url>; rel="next"`), relative to `current`; undefined on the last page. A
 * registry behind a proxy may use another host name than its clients, so the next page is always requested from the current server.
 */
export function nextPage(header: string | string[] | undefined, current: URL): URL | undefined {
  const value = Array.isArray(header) ? header.join(',') : (header ?? '');
  for (const { address, parameters } of linksIn(value.slice(0, maxHeaderLength))) {
    if (!isNext(parameters) || !URL.canParse(address, current.href)) continue;
    const named = new URL(address, current);
    const next = new URL(current);
    next.pathname = named.pathname;
    next.search = named.search;
    if (next.href !== current.href) return next;
  }
  return undefined;
}

/** Each `<address>` with its parameters. Runs in linear time, because the registry controls the header. */
function* linksIn(value: string): Iterable<{ address: string; parameters: string }> {
  for (let start = value.indexOf('<'); start >= 0; ) {
    const end = value.indexOf('>', start);
    if (end < 0) return;
    const next = value.indexOf('<', end);
    yield {
      address: value.slice(start + 1, end),
      parameters: value.slice(end + 1, next < 0 ? undefined : next),
    };
    start = next;
  }
}

/** True if one of the parameters is `rel` and has the word `next`, quoted or not. */
function isNext(parameters: string): boolean {
  return parameters.split(/[;,]/).some((parameter) => {
    const [name = '', relations = ''] = parameter.split('=', 2);
    if (name.trim().toLowerCase() !== 'rel') return false;
    return relations.replaceAll('"', ' ').toLowerCase().split(/\s+/).includes('next');
  });
}
