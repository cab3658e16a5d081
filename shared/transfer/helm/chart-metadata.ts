import { canonicalJson, isRecord, type Json } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import { versionOf } from './versions.ts';

/** A maintainer of a chart. */
interface Maintainer {
  name?: string;
  email?: string;
  url?: string;
}

/** A dependency of a chart. */
export interface Dependency {
  name: string;
  version?: string;
  repository: string;
  condition?: string;
  tags?: string[];
  enabled?: boolean;
  'import-values'?: unknown[];
  alias?: string;
}

/** Chart.yaml in the field order of Helm's `Metadata`; its JSON is the config of a chart in a registry. */
export interface ChartMetadata {
  name: string;
  home?: string;
  sources?: string[];
  version: string;
  description?: string;
  keywords?: string[];
  maintainers?: Maintainer[];
  icon?: string;
  apiVersion: string;
  condition?: string;
  tags?: string;
  appVersion?: string;
  deprecated?: boolean;
  annotations?: Record<string, string>;
  kubeVersion?: string;
  dependencies?: Dependency[];
  type?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads fields as Go's JSON decoder with sigs.k8s.io/yaml does: strings may be written as numbers or booleans. */
class FieldReader {
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  refused(why: string): TransferError {
    return new TransferError('permanent', `Chart.yaml of ${this.#what} cannot be used: ${why}.`);
  }

  /** Go's decoder ignores the case of field names. The last match in byte order wins, where `name` follows `Name`. */
  field(fields: Fields, name: string): unknown {
    const found = Object.keys(fields).filter((key) => key.toLowerCase() === name.toLowerCase());
    const last = found.toSorted().at(-1);
    return last === undefined ? undefined : fields[last];
  }

  text(fields: Fields, name: string): string | undefined {
    const value = this.field(fields, name);
    if (value === undefined || value === null) return undefined;
    return this.textOf(value, name) || undefined;
  }

  textOf(value: unknown, name: string): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return goNumber(value);
    if (typeof value === 'boolean') return String(value);
    if (value === null) return '';
    throw this.refused(`"${name}" is not a string`);
  }

  clean(fields: Fields, name: string): string | undefined {
    const text = this.text(fields, name);
    return (text && sanitized(text)) || undefined;
  }

  flag(fields: Fields, name: string): true | undefined {
    const value = this.field(fields, name);
    if (value !== undefined && value !== null && typeof value !== 'boolean')
      throw this.refused(`"${name}" is neither true nor false`);
    return value === true ? true : undefined;
  }

  list<T>(fields: Fields, name: string, item: (value: unknown) => T): T[] | undefined {
    const value = this.field(fields, name);
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) throw this.refused(`"${name}" is not a list`);
    return value.length === 0 ? undefined : value.map(item);
  }

  record(value: unknown, name: string): Fields {
    if (isRecord(value)) return value;
    throw this.refused(`"${name}" contains a value that is not a mapping`);
  }
}

/**
 * Parses the metadata of a chart from its Chart.yaml and, in charts of version 1, requirements.yaml, with Helm's checks. `what` names the chart
 * in messages. Throws a permanent TransferError.
 */
export function chartMetadata(
  chartYaml: Fields,
  requirements: Fields | undefined,
  what: string,
): ChartMetadata {
  const read = new FieldReader(what);
  const fields = { ...chartYaml, ...requirements };
  const name = read.clean(fields, 'name');
  const version = read.text(fields, 'version');
  if (name === undefined) throw read.refused('it has no name');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw read.refused(`"${name.slice(0, 100)}" is not the name of a chart`);
  if (version === undefined || !versionOf(version))
    throw read.refused(
      version === undefined ? 'it has no version' : `"${version.slice(0, 100)}" is not a semantic version`,
    );
  const type = read.text(fields, 'type');
  if (type !== undefined && type !== 'application' && type !== 'library')
    throw read.refused('its type is neither application nor library');
  const annotations = Object.entries(read.record(read.field(fields, 'annotations') ?? {}, 'annotations'));
  const clean = (value: unknown): string => sanitized(read.textOf(value, 'sources or keywords'));
  return defined({
    name,
    home: read.clean(fields, 'home'),
    sources: read.list(fields, 'sources', clean),
    version,
    description: read.clean(fields, 'description'),
    keywords: read.list(fields, 'keywords', clean),
    maintainers: read.list(fields, 'maintainers', (value) => {
      const one = read.record(value, 'maintainers');
      const [by, email, url] = [read.clean(one, 'name'), read.clean(one, 'email'), read.clean(one, 'url')];
      return defined<Maintainer>({ name: by, email, url });
    }),
    icon: read.clean(fields, 'icon'),
    apiVersion: read.text(fields, 'apiVersion') ?? 'v1',
    condition: read.clean(fields, 'condition'),
    tags: read.clean(fields, 'tags'),
    appVersion: read.clean(fields, 'appVersion'),
    deprecated: read.flag(fields, 'deprecated'),
    annotations:
      annotations.length === 0
        ? undefined
        : Object.fromEntries(
            annotations
              .map(([key, value]) => [key, read.textOf(value, 'annotations')] as const)
              .toSorted(byKey),
          ),
    kubeVersion: read.clean(fields, 'kubeVersion'),
    dependencies: dependenciesOf(fields, read),
    type,
  });
}

function dependenciesOf(fields: Fields, read: FieldReader): Dependency[] | undefined {
  const list = read.list(fields, 'dependencies', (value) =>
    dependency(read.record(value, 'dependencies'), read),
  );
  const keys = (list ?? []).map(({ name, alias }) => alias ?? name);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined)
    throw read.refused(`it has more than one dependency with the name or alias "${twice.slice(0, 100)}"`);
  return list;
}

function dependency(fields: Fields, read: FieldReader): Dependency {
  const alias = read.text(fields, 'alias');
  if (alias !== undefined && !/^[a-zA-Z0-9_-]+$/.test(alias))
    throw read.refused(`the alias "${alias.slice(0, 100)}" has characters that are not allowed`);
  return defined({
    name: read.clean(fields, 'name') ?? '',
    version: read.clean(fields, 'version'),
    repository: read.clean(fields, 'repository') ?? '',
    condition: read.clean(fields, 'condition'),
    tags: read.list(fields, 'tags', (value) => sanitized(read.textOf(value, 'tags'))),
    enabled: read.flag(fields, 'enabled'),
    'import-values': read.list(fields, 'import-values', (value) => value),
    alias,
  });
}

/** Drops undefined fields and keeps the order. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Go writes map keys in byte order. */
export function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0]));
}

/** Helm's sanitizeString: all white space becomes a space, unprintable characters are dropped. */
function sanitized(text: string): string {
  return text.replace(/\p{White_Space}/gu, ' ').replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
}

/**
 * Converts a number to a string as sigs.k8s.io/yaml does: a fraction as the shortest float32, with an exponent for seven or more digits before
 * the point. (A whole number with an exponent, such as 1e7, cannot be told from one without.)
 */
function goNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const precisions = [1, 2, 3, 4, 5, 6, 7, 8];
  const enough = precisions.find(
    (digits) => Math.fround(Number(value.toPrecision(digits))) === Math.fround(value),
  );
  const shortest = Number(value.toPrecision(enough ?? 9));
  if (Math.abs(shortest) < 1e6 && Math.abs(shortest) >= 1e-4) return String(shortest);
  return shortest.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Serialises the metadata as Go's encoding/json does, byte for byte. */
export function metadataJson(metadata: ChartMetadata): Buffer {
  const dependencies = metadata.dependencies?.map((one) =>
    // Free-form values are Go maps, whose keys are sorted.
    one['import-values'] === undefined
      ? one
      : { ...one, 'import-values': JSON.parse(canonicalJson(one['import-values'] as Json)) as unknown[] },
  );
  return goJson(dependencies === undefined ? metadata : { ...metadata, dependencies });
}

const escapes = /[<>&\u2028\u2029]/g;

/** Serialises `value` as Go's encoding/json does, apart from the order of keys. */
export function goJson(value: object): Buffer {
  const json = JSON.stringify(value).replace(
    escapes,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(json);
}
