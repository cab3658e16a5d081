import type { EndpointRow, TypeRow } from '../../api.ts';

/** The state of the New Order form. */
export interface Draft {
  namespace: string;
  name: string;
  type: string;
  source: string;
  destination: string;
  artifacts: DraftArtifact[];
}

export interface DraftArtifact {
  id: number;
  name: string;
  /** Input by field of the type's schema. */
  values: Readonly<Record<string, unknown>>;
}

/** A field of an artifact, from the schema of its type. */
export interface Field {
  name: string;
  text: string;
  isRequired: boolean;
  /** `group`: an object with nested fields. */
  form: 'text' | 'number' | 'flag' | 'choice' | 'lines' | 'json' | 'group';
  choices: string[];
  fields: Field[];
}

interface Property {
  type?: string;
  description?: string;
  enum?: unknown[];
  items?: Property;
  properties?: Record<string, Property>;
  required?: string[];
}

/** Returns the fields of a type, required ones first. A type without a schema accepts any object, as JSON. */
export function fieldsOf(type: TypeRow | undefined): Field[] {
  return fieldsIn((type?.schema ?? {}) as Property);
}

function fieldsIn({ properties = {}, required = [] }: Property): Field[] {
  return Object.entries(properties)
    .map(([name, property]): Field => {
      const choices = (property.enum ?? []).filter((value) => typeof value === 'string');
      return {
        name,
        text: property.description ?? '',
        isRequired: required.includes(name),
        form: formOf(property, choices.length > 0),
        choices,
        fields: fieldsIn(property),
      };
    })
    .sort((a, b) => rankOf(a) - rankOf(b));
}

/** Ranks required fields first, then short ones. */
function rankOf({ isRequired, form }: Field): number {
  return isRequired ? 0 : form === 'text' ? 1 : form === 'group' || form === 'json' ? 3 : 2;
}

function formOf({ type, items, properties }: Property, isChoice: boolean): Field['form'] {
  if (isChoice) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'flag';
  if (type === 'object' && properties) return 'group';
  return type === 'array' && items?.type === 'string' ? 'lines' : 'json';
}

/** Returns whether an Endpoint can be the given side of an artifact of a type. */
export function canBe(
  side: 'source' | 'destination',
  endpoint: EndpointRow,
  type: TypeRow | undefined,
): boolean {
  const types = (side === 'source' ? type?.sources : type?.destinations) ?? [];
  const isAllowed = endpoint.allowedTypes.length === 0 || endpoint.allowedTypes.includes(type?.name ?? '');
  return endpoint.sides.includes(side) && isAllowed && (types.length === 0 || types.includes(endpoint.type));
}

/** Returns the manifest as JSON, without empty fields. */
export function manifestOf(
  { namespace, name, type, source, destination, artifacts }: Draft,
  fields: readonly Field[],
): string {
  const defaults = {
    ...(source && { srcRef: { name: source } }),
    ...(destination && { dstRef: { name: destination } }),
  };
  return JSON.stringify({
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Order',
    metadata: { name, namespace },
    spec: {
      ...(Object.keys(defaults).length > 0 && { defaults }),
      artifacts: artifacts.map((artifact) => ({
        ...(artifact.name !== '' && { name: artifact.name }),
        type,
        spec: valuesOf(fields, artifact.values),
      })),
    },
  });
}

function valuesOf(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = fields.map((field) => [field.name, typedValue(field, values[field.name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function typedValue({ form, fields }: Field, given: unknown): unknown {
  if (form === 'group') {
    const values = valuesOf(fields, (given ?? {}) as Record<string, unknown>);
    return Object.keys(values).length === 0 ? undefined : values;
  }
  if (given === undefined || given === '' || given === false) return undefined;
  const text = String(given);
  if (form === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (form === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  return form === 'json' ? jsonOf(text) : given;
}

/** Returns invalid JSON as a string: the dry run reports the problem. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Suggests a name for an Order from its artifact. */
export function nameFor(values: DraftArtifact['values']): string {
  const first = Object.values(values).find((value) => typeof value === 'string' && value !== '');
  return String(first ?? '')
    .replace(/@.*$/, '')
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 50);
}
