/**
 * The address of the next page in a `Link` header (RFC 8288: `<url>; rel="next"`), relative to `current`. Undefined at
 * the end, and for an address on another origin: a list is not continued elsewhere.
 */
export function nextPage(header: string | string[] | undefined, current: URL): URL | undefined {
  const value = Array.isArray(header) ? header.join(',') : (header ?? '');
  for (const link of value.matchAll(/<([^>]*)>([^<]*)/g)) {
    const [, address = '', parameters = ''] = link;
    if (!/;\s*rel\s*=\s*"?(?:[^"]*\s)?next\b/i.test(parameters) || !URL.canParse(address, current.href))
      continue;
    const next = new URL(address, current);
    if (next.origin === current.origin && next.href !== current.href) return next;
  }
  return undefined;
}
