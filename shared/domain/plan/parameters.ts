import { canonicalJson, isRecord, type Json } from '#shared/base/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Parameter } from '../kinds/common.ts';
import type { Schema } from '../schema/schema.ts';
import { cut } from '../values/text.ts';

/**
 * Parameters derived from Endpoints and their Secrets. A type that could replace them would send the credentials of an Endpoint elsewhere,
 * although its author needs no right to read them.
 */
const fromEndpoints: ReadonlySet<string> = new Set([
  ...['srcType', 'srcRemoteURL', 'srcSecret', 'srcSecretName'],
  ...['dstType', 'dstRemoteURL', 'dstSecret', 'dstSecretName', 'configSecretName'],
]);

export function isFromEndpoint({ name }: Pick<Parameter, 'name'>): boolean {
  return fromEndpoints.has(name);
}

/** Returns the parameters that a type sets, without those derived from Endpoints: a type may have been stored before they were refused. */
export function typeParameters({ spec }: ArtifactType): Parameter[] {
  return (spec.parameters ?? []).filter((parameter) => !isFromEndpoint(parameter));
}

/** Says which parameters of a type are ignored; undefined if none is. */
export function ignoredParameters({ kind, metadata, spec }: ArtifactType): string | undefined {
  const names = (spec.parameters ?? []).filter(isFromEndpoint).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `${kind} "${metadata.name}" sets ${names.join(', ')}, which comes from an Endpoint and is not replaced: remove it from spec.parameters`;
}

/** The inputs of the parameters of one artifact (docs/extending.md lists them). */
export interface ParameterInputs {
  source: { type: string; remoteURL: string; secret: boolean };
  destination: { type: string; remoteURL: string; secret: boolean };
  cron: boolean;
  /** With the type's parameters applied (`effectiveSpec`). */
  spec: Readonly<Record<string, Json>>;
  /** `typeParameters` of the type: they override the artifact's, because central configuration takes precedence. */
  typeParameters: readonly Parameter[];
}

/**
 * Returns the inputs of a workflow template in a stable order, each name once: those of the Endpoints, the artifact's spec flattened to
 * `spec<Path>`, then those of the type, which override the others.
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
 * alphabetical order, arrays as JSON, null as the empty string. If two paths give one name, the later one wins; `clashOf` refuses such specs
 * of users.
 */
export function flatten(spec: Readonly<Record<string, Json>>): Parameter[] {
  const found = new Map(leavesOf(spec).map(({ name, value }) => [name, printed(value)]));
  return [...found].map(([name, value]) => ({ name, value }));
}

/** A field of a spec without fields of its own, and the name of its parameter. */
export interface Leaf {
  name: string;
  path: readonly string[];
  value: Leafy;
}

type Leafy = Exclude<Json, Record<string, Json>>;

/** Returns the leaves of a spec in alphabetical order of their keys; with a schema, without the fields of free-form objects. */
export function leavesOf(spec: Readonly<Record<string, Json>>, schema?: Schema): Leaf[] {
  const found: Leaf[] = [];
  visit('spec', [], spec, schema, found);
  return found;
}

function visit(
  prefix: string,
  above: readonly string[],
  fields: Readonly<Record<string, Json>>,
  schema: Schema | undefined,
  found: Leaf[],
) {
  const { properties = {} } = schema ?? {};
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key];
    const name = parameterName(prefix, key);
    const path = [...above, key];
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (value === undefined) continue;
    if (!isRecord(value)) found.push({ name, path, value });
    else if (known === undefined || known.properties !== undefined) visit(name, path, value, known, found);
  }
}

/** Two fields that become one parameter: a template would see one value, and the worker the other. */
export interface Clash {
  name: string;
  paths: readonly [readonly string[], readonly string[]];
}

/**
 * Returns the first two fields of a spec that become one parameter. Fields of free-form objects, such as the values of a chart, are exempt:
 * such an object is read as a whole, and its keys have any form.
 */
export function clashOf(spec: Readonly<Record<string, Json>>, schema: Schema | undefined): Clash | undefined {
  return clashAmong(leavesOf(spec, schema));
}

/** Returns the first two of the given fields that become one parameter. */
export function clashAmong(leaves: readonly Pick<Leaf, 'name' | 'path'>[]): Clash | undefined {
  const seen = new Map<string, readonly string[]>();
  for (const { name, path } of leaves) {
    const first = seen.get(name);
    if (first !== undefined) return { name, paths: [first, path] };
    seen.set(name, path);
  }
  return undefined;
}

/** Says what is wrong, and what to do. `field` is the field of the spec. */
export function clashText(field: string, { name, paths }: Clash): string {
  const [first, second] = paths.map((path) => cut(`${field}${path.map(keyText).join('')}`, longestPathText));
  return `${first} and ${second} both become the parameter ${cut(name, longestPathText)}: remove one of them`;
}

/** Bytes of a path in a message: users choose the keys. */
const longestPathText = 200;

function keyText(key: string): string {
  return /^[-\w]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Returns the name of the parameter for the field `key`; `prefix` is the name of its parent, `spec` at the top. */
export function parameterName(prefix: string, key: string): string {
  return prefix + camel(key);
}

// Argo allows [-a-zA-Z0-9_] in names; other characters of a key end a word, so `image.tag` reads `ImageTag`.
function camel(key: string): string {
  return key
    .split(/[^-a-zA-Z0-9_]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Formats a value as the text of a parameter. */
export function printed(value: Leafy): string {
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

/** Parses the parameters of a spec back into fields, for an ArtifactWorkflow made by hand: `specImage` gives the field `image`. */
export function specFromParameters(parameters: readonly Parameter[]): Record<string, Json> {
  const entries = parameters.flatMap(({ name, value }) => {
    const field = fieldOf(name);
    // A name that no field becomes belongs to another parameter.
    return field === undefined || parameterName('spec', field) !== name ? [] : [[field, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the top-level field of a spec for a parameter, whatever its case: `specImage` means `image`. undefined for other parameters. */
export function fieldOf(name: string): string | undefined {
  const rest = name.startsWith('spec') ? name.slice('spec'.length) : '';
  return rest === '' ? undefined : rest.charAt(0).toLowerCase() + rest.slice(1);
}
