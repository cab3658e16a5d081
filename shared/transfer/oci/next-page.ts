/**
 * The URL of the next page in a `Link` header (RFC 8288: `<url>; rel="next"`), relative to `current`; undefined on the last page. A
 * registry behind a proxy may use another host name than its clients, so the next page is always on the server of the current one.
 */
export function nextPage(header: string | string[] | undefined, current: URL): URL | undefined {
  const value = Array.isArray(header) ? header.join(',') : (header ?? '');
  for (const link of value.matchAll(/<([^>]*)>([^<]*)/g)) {
    const [, address = '', parameters = ''] = link;
    if (!/;\s*rel\s*=\s*"?(?:[^"]*\s)?next\b/i.test(parameters) || !URL.canParse(address, current.href))
      continue;
    const named = new URL(address, current);
    const next = new URL(current);
    next.pathname = named.pathname;
    next.search = named.search;
    if (next.href !== current.href) return next;
  }
  return undefined;
}
