import { ArcError } from '#shared/base/errors';

/** The transforms of an object or list before it is sent, all of meta.k8s.io/v1. */
export type As = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How to answer. */
export interface Representation {
  format: 'json' | 'yaml';
  contentType: 'application/json' | 'application/yaml';
  /** undefined: the object as it is. */
  as: As | undefined;
  /** Indent JSON, for people, unless the query says otherwise: `isIndented`. */
  pretty: boolean;
}

export interface NegotiateOptions {
  /** A watch: one JSON document a line, so YAML is not offered and nothing is indented. */
  stream?: boolean;
}

const transforms: readonly As[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

/** User agents that show answers to people; the list of k8s.io/apiserver. */
export function readByPeople(userAgent: string | null | undefined): boolean {
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent ?? '');
}

/** The query parameter `pretty`, as Go's strconv.ParseBool reads it, overrides what Accept and User-Agent ask for. */
export function isIndented(query: URLSearchParams, byDefault: boolean): boolean {
  const pretty = query.get('pretty') ?? '';
  return pretty === '' ? byDefault : /^(1|[tT]|TRUE|[tT]rue)$/.test(pretty);
}

function formatOf(type: string, stream: boolean): Representation['format'] | undefined {
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
    case '*': // not in RFC 9110, but clients send it and kube-apiserver accepts it
      return 'json';
    case 'application/yaml':
    case 'application/x-yaml':
    case 'text/yaml':
      return stream ? undefined : 'yaml';
    default:
      return undefined;
  }
}

/** The transform an entry asks for: null for one that is not served here (v1beta1 tables, unknown kinds). */
function transformOf(entry: AcceptEntry): As | undefined | null {
  const as = entry.parameters.get('as');
  if (as === undefined) return undefined;
  if (entry.parameters.get('g') !== 'meta.k8s.io' || entry.parameters.get('v') !== 'v1') return null;
  return transforms.find((one) => one === as) ?? null;
}

/**
 * Picks the representation for an `Accept` header: the first entry, best quality first, that can be served.
 * Skips protobuf, CBOR and old Table versions. Rejects with NotAcceptable, naming the types offered.
 */
export function negotiate(
  accept: string | null | undefined,
  userAgent: string | null | undefined,
  options: NegotiateOptions = {},
): Representation {
  const stream = options.stream === true;
  for (const entry of parseAccept(accept)) {
    const format = formatOf(entry.type, stream);
    const as = transformOf(entry);
    if (format === undefined || as === null) continue;
    return {
      format,
      contentType: format === 'json' ? 'application/json' : 'application/yaml',
      as,
      pretty: !stream && (entry.parameters.get('pretty') === '1' || readByPeople(userAgent)),
    };
  }
  const offered = stream ? 'application/json;stream=watch' : 'application/json, application/yaml';
  throw new ArcError('NotAcceptable', `only the following media types are accepted: ${offered}`);
}

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
