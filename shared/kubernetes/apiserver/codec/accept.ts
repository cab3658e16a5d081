/** One entry of an Accept header, by RFC 9110 section 12.5.1. */
export interface AcceptEntry {
  /** Lower case, `application/json` or with wildcards. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** 0 to 1; an unreadable value counts as 1. */
  quality: number;
}

/** More entries than any client sends; further ones are ignored. */
const mostEntries = 64;

function quality(value: string | undefined): number {
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  return number >= 0 && number <= 1 ? number : 1;
}

function entry(text: string): AcceptEntry {
  const [type = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const at = parameter.indexOf('=');
    if (at < 0) continue;
    const value = parameter.slice(at + 1).trim();
    parameters.set(parameter.slice(0, at).trim().toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  return { type: type.trim().toLowerCase(), parameters, quality: quality(parameters.get('q')) };
}

/** Exact types before `application/*` before everything. */
function wildcards(type: string): number {
  return type === '*/*' || type === '*' ? 2 : type.endsWith('/*') ? 1 : 0;
}

/**
 * The entries of an Accept header, the most wanted first: by quality, then the exact before the wildcard, then as
 * written. Entries with quality 0 are dropped. A header that is missing or empty is one entry for anything.
 */
export function parseAccept(header: string | null | undefined): AcceptEntry[] {
  const entries = (header ?? '')
    .split(',', mostEntries)
    .filter((text) => text.trim() !== '')
    .map(entry);
  if (entries.length === 0) return [{ type: '*/*', parameters: new Map(), quality: 1 }];
  return entries
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a.type) - wildcards(b.type));
}
