import { ArcError } from '#shared/base/errors';

/** Transformations of an object or list into a kind of meta.k8s.io/v1. */
export type ObjectTransform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** The negotiated representation of a response. */
export interface Representation {
  format: 'json' | 'yaml';
  contentType: 'application/json' | 'application/yaml';
  /** Undefined: no transformation. */
  as: ObjectTransform | undefined;
  /** The default of `isIndented`. */
  pretty: boolean;
}

export interface NegotiateOptions {
  /** True for a watch: one JSON document per line, without YAML and indentation. */
  stream?: boolean;
}

const transforms: readonly ObjectTransform[] = [
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
];

/** Tells whether a user agent displays responses to people; same list as in k8s.io/apiserver. */
export function isReadByPeople(userAgent: string | null | undefined): boolean {
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent ?? '');
}

/** Tells whether to indent JSON. The query parameter `pretty` (parsed like Go's strconv.ParseBool) overrides Accept and User-Agent. */
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

/** Returns the requested transformation; undefined: none; null: not supported (v1beta1 Tables, unknown kinds). */
function transformOf(entry: AcceptEntry): ObjectTransform | undefined | null {
  const as = entry.parameters.get('as');
  if (as === undefined) return undefined;
  if (entry.parameters.get('g') !== 'meta.k8s.io' || entry.parameters.get('v') !== 'v1') return null;
  return transforms.find((one) => one === as) ?? null;
}

/**
 * Returns the representation for an `Accept` header: the first supported entry in order of quality. Skips protobuf, CBOR and old Table
 * versions. Throws NotAcceptable with the supported types.
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
      pretty: !stream && (entry.parameters.get('pretty') === '1' || isReadByPeople(userAgent)),
    };
  }
  const offered = stream ? 'application/json;stream=watch' : 'application/json, application/yaml';
  throw new ArcError('NotAcceptable', `only the following media types are accepted: ${offered}`);
}

/** An entry of an Accept header, RFC 9110 section 12.5.1. */
export interface AcceptEntry {
  /** Lower case, `application/json` or with wildcards. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** 0 to 1; 1 if malformed. */
  quality: number;
}

/** Limit of entries in an Accept header; further entries are ignored. */
const maxEntries = 64;

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

/** Sorts exact types before `application/*` before `*`. */
function wildcards(type: string): number {
  return type === '*/*' || type === '*' ? 2 : type.endsWith('/*') ? 1 : 0;
}

/**
 * Returns the entries of an Accept header by preference: quality, exact types before wildcards, then position. Drops entries with quality
 * 0. An empty or missing header is one entry for any type.
 */
export function parseAccept(header: string | null | undefined): AcceptEntry[] {
  const entries = (header ?? '')
    .split(',', maxEntries)
    .filter((text) => text.trim() !== '')
    .map(entry);
  if (entries.length === 0) return [{ type: '*/*', parameters: new Map(), quality: 1 }];
  return entries
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a.type) - wildcards(b.type));
}
