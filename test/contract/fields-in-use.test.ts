import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { arcKinds } from '#shared/domain';
import { isProduction } from '../../scripts/checks/source-tree.ts';

const root = path.resolve(import.meta.dirname, '../..');

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** Every field that a user can write, by its path. */
function fieldsOf(schema: Schema, at: string): string[] {
  const inner = [schema.items, schema.additionalProperties].flatMap((one) =>
    typeof one === 'object' ? fieldsOf(one, `${at}[]`) : [],
  );
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => [
    `${at}.${name}`,
    ...fieldsOf(one, `${at}.${name}`),
  ]);
  return [...own, ...inner];
}

it('no field of a spec is accepted that no code but its schema knows', async () => {
  const texts: string[] = [];
  for await (const file of glob('{functions,shared}/**/*.ts', { cwd: root }))
    if (isProduction(file) && !file.startsWith('shared/domain/kinds/'))
      texts.push(await readFile(path.join(root, file), 'utf8'));
  const words = new Set(texts.join('\n').match(/\w+/g));
  const fields = arcKinds.flatMap(({ kind, schema }) => {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
    return fieldsOf(json.properties?.spec ?? {}, kind);
  });
  expect(fields.length).toBeGreaterThan(100);
  expect(fields.filter((field) => !words.has(field.split('.').at(-1)?.replace('[]', '') ?? ''))).toEqual([]);
});
