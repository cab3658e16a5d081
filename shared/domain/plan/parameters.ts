import { canonicalJson, isRecord, type Json } from '#shared/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Parameter } from '../kinds/common.ts';

/**
 * What comes from Endpoints and their Secrets. A type that could replace it would send the credentials of an Endpoint elsewhere, and
 * its author needs no right to read them.
 */
const fromEndpoints: ReadonlySet<string> = new Set([
  ...['srcType', 'srcRemoteURL', 'srcSecret', 'srcSecretName'],
  ...['dstType', 'dstRemoteURL', 'dstSecret', 'dstSecretName', 'configSecretName'],
]);

export function isFromEndpoint({ name }: Pick<Parameter, 'name'>): boolean {
  return fromEndpoints.has(name);
}

/** The parameters that a type sets. Those that come from Endpoints are left out: a type may have been stored before they were refused. */
export function typeParameters({ spec }: ArtifactType): Parameter[] {
  return (spec.parameters ?? []).filter((parameter) => !isFromEndpoint(parameter));
}

/** Tells which parameters of a type are left out; undefined where none is. */
export function ignoredParameters({ kind, metadata, spec }: ArtifactType): string | undefined {
  const names = (spec.parameters ?? []).filter(isFromEndpoint).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `${kind} "${metadata.name}" sets ${names.join(', ')}, which comes from an Endpoint and is not replaced: remove it from spec.parameters`;
}

/** What the parameters of one artifact are made of (docs/extending.md lists them). */
export interface ParameterInputs {
  source: { type: string; remoteURL: string; secret: boolean };
  destination: { type: string; remoteURL: string; secret: boolean };
  cron: boolean;
  spec: Readonly<Record<string, Json>>;
  /** `typeParameters` of the type: they win over the artifact's, because central configuration takes precedence. */
  typeParameters: readonly Parameter[];
}

/**
 * The inputs of a workflow template, in a stable order and with every name once: the Endpoints', the artifact's spec
 * flattened to `spec<Path>`, then the type's, which replace those before them.
 */
export function parametersFor(inputs: ParameterInputs): Parameter[] {
  const values = new Map<string, string>([
    ['srcType', inputs.source.type],
    ['srcRemoteURL', inputs.source.remoteURL],
    ['srcSecret', String(inputs.source.secret)],
    ['dstType', inputs.destination.type],
    ['dstRemoteURL', inputs.destination.remoteURL],
    ['dstSecret', String(inputs.destination.secret)],
    ['cron', String(inputs.cron)],
  ]);
  for (const { name, value } of flatten(inputs.spec)) values.set(name, value);
  for (const { name, value } of inputs.typeParameters) {
    values.delete(name);
    values.set(name, value);
  }
  return [...values].map(([name, value]) => ({ name, value }));
}

/**
 * `{config: {port: 80}, tags: ["a"]}` becomes `specConfigPort=80`, `specTags=["a"]`: camel case at every level, fields in
 * alphabetical order, arrays as JSON, null as the empty string. Where two paths give one name, the later one stays.
 */
export function flatten(spec: Readonly<Record<string, Json>>): Parameter[] {
  const found = new Map<string, string>();
  visit('spec', spec, found);
  return [...found].map(([name, value]) => ({ name, value }));
}

function visit(prefix: string, fields: Readonly<Record<string, Json>>, found: Map<string, string>): void {
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key];
    const name = prefix + camel(key);
    if (value === undefined) continue;
    if (isRecord(value)) visit(name, value, found);
    else found.set(name, print(value));
  }
}

// Argo allows [-a-zA-Z0-9_] in names; other characters of a key end a word, so `image.tag` reads `ImageTag`.
function camel(key: string): string {
  return key
    .split(/[^-a-zA-Z0-9_]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function print(value: Exclude<Json, Record<string, Json>>): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return plainNumber(value);
  return typeof value === 'boolean' ? String(value) : canonicalJson(value);
}

// "As written": 123000000000 must not turn into 1.23e+11, and JavaScript does so only from 1e21 on and below 1e-6.
function plainNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) >= 1e21) return BigInt(value).toString();
  const text = String(value);
  const small = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  if (!small) return text;
  const [, sign = '', lead = '', rest = '', exponent = '0'] = small;
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${lead}${rest}`;
}

/**
 * The artifact's spec with the type's parameters applied: `specScanSeverity` of the type replaces `scan.severity`, or becomes
 * the field `scanSeverity` where the artifact has none. So a worker that reads the configuration sees what a template sees.
 */
export function effectiveSpec(
  spec: Readonly<Record<string, Json>>,
  typeParameters: readonly Parameter[],
): Record<string, Json> {
  const result = structuredClone(spec) as Record<string, Json>;
  for (const { name, value } of typeParameters) {
    const rest = name.startsWith('spec') ? name.slice('spec'.length) : '';
    if (rest === '') continue;
    if (!replaceLeaf('spec', result, name, value))
      result[rest.charAt(0).toLowerCase() + rest.slice(1)] = value;
  }
  return result;
}

function replaceLeaf(prefix: string, fields: Record<string, Json>, target: string, value: string): boolean {
  let replaced = false;
  for (const [key, old] of Object.entries(fields)) {
    const name = prefix + camel(key);
    if (isRecord(old)) {
      replaced = replaceLeaf(name, old, target, value) || replaced;
    } else if (name === target) {
      fields[key] = likeBefore(old, value);
      replaced = true;
    }
  }
  return replaced;
}

// A number stays a number and a list a list where the replacement can be read as one.
function likeBefore(old: Json, value: string): Json {
  if (typeof old === 'string' || old === null) return value;
  try {
    const parsed = JSON.parse(value) as Json;
    return typeof parsed === typeof old && Array.isArray(parsed) === Array.isArray(old) ? parsed : value;
  } catch {
    return value;
  }
}

/** The parameters of a spec read back, for an ArtifactWorkflow made by hand: `specImage` gives the field `image`. */
export function specFromParameters(parameters: readonly Parameter[]): Record<string, Json> {
  const entries = parameters
    .filter(({ name }) => name.startsWith('spec') && name.length > 'spec'.length)
    .map(({ name, value }) => [name.charAt(4).toLowerCase() + name.slice(5), value] as const);
  return Object.fromEntries(entries);
}
