import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { type ArcKind, arcKinds } from '#shared/domain';
import { settingsReference } from './settings-reference.ts';

/** Path of the generated document, relative to the root. */
export const referenceFile = 'docs/api-reference.md';
/** The command that regenerates it. */
export const referenceCommand = 'npx node scripts/api-reference.ts';

/** The used fields of zod's JSON Schema (draft 2020-12). */
interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** Returns the API reference in Markdown: for each kind its names, columns and fields in schema order, then the operator's settings. */
export function apiReference(kinds: readonly ArcKind[]): string {
  const [first] = kinds;
  const title = `# API reference\n\nGroup \`${first?.group}\`, version \`${first?.version}\`. Generated from the kinds in \`shared/domain\`: change those,
then run \`${referenceCommand}\`. \`kubectl explain --recursive orders\` prints the same from a server.
[orders.md](orders.md) says how to use the fields and which of them have no effect yet.\n`;
  const names = [...kinds.map(({ kind }) => kind), 'Settings of the operator'];
  const links = names.map((name) => `[${name}](#${name.toLowerCase().replaceAll(' ', '-')})`);
  const contents = `Contents: ${links.join(' ·\n')}\n`;
  return [title, contents, ...kinds.map(kindSection), settingsReference()].join('\n');
}

/** Returns why the document is out of date; undefined if it is up to date. */
export async function staleReference(root: string): Promise<string | undefined> {
  const text = await readFile(path.join(root, referenceFile), 'utf8').catch(() => '');
  if (text === apiReference(arcKinds)) return undefined;
  return `${referenceFile} does not match the kinds in shared/domain: run ${referenceCommand} and commit the file`;
}

function kindSection(kind: ArcKind): string {
  const schema = z.toJSONSchema(kind.schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const facts = [
    kind.scope === 'Namespaced' ? 'namespaced' : 'cluster-scoped',
    `\`${kind.plural}\``,
    `short name \`${kind.shortNames.join('`, `')}\``,
    `categories \`${kind.categories.join('`, `')}\``,
    ...(kind.status ? ['subresource `status`'] : []),
    ...kind.actions.map(({ name }) => `action \`${name}\``),
  ];
  const columns = kind.columns.map(({ name, priority = 0 }) => (priority > 0 ? `${name} (wide)` : name));
  const rows = fieldsOf(schema, '').map(
    ({ field, type, note, description }) => `| \`${field}\` | ${type} | ${note} | ${cell(description)} |`,
  );
  return `## ${kind.kind}

${kind.description}

- ${facts.join(', ')}
- columns of \`kubectl get\`: ${columns.join(', ')}

| field | type | | description |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

interface Row {
  field: string;
  type: string;
  /** `required`, the default, limits. */
  note: string;
  description: string;
}

function fieldsOf(schema: Schema, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const row = {
      field: prefix + name,
      type: typeOf(property),
      note: noteOf(property, schema.required?.includes(name) === true),
      description: property.description ?? '',
    };
    return [row, ...nestedFields(property, row.field)];
  });
}

function nestedFields(schema: Schema, field: string): Row[] {
  if (schema.items) return fieldsOf(schema.items, `${field}[].`);
  const { additionalProperties: values } = schema;
  if (typeof values === 'object') return fieldsOf(values, `${field}.<key>.`);
  return fieldsOf(schema, `${field}.`);
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.items) return `list of ${plural(typeOf(schema.items))}`;
  const { additionalProperties: values } = schema;
  if (typeof values !== 'object' || schema.properties) return schema.type ?? 'any';
  const type = typeOf(values);
  return type === 'any' ? 'free object' : `map to ${type}`;
}

function plural(type: string): string {
  return type.startsWith('`') ? type : `${type}s`;
}

function noteOf({ default: value, minimum, maximum }: Schema, required: boolean): string {
  const bounds = [
    ...(minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
  ];
  const given = value === undefined || typeof value === 'object' ? [] : [`default \`${value}\``];
  return [...(required ? ['required'] : []), ...given, ...bounds].join(', ');
}

/** Escapes text for a table cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
