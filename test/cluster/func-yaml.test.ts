import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

/** func 1.23, whose schema of func.yaml is part of its Go module. */
const func = 'knative.dev/func@v0.50.1';
const schema = fetchSchema();
if (process.env.CI && schema === undefined) throw new Error(`go cannot download ${func}`);
if (schema === undefined)
  console.warn(`go cannot download ${func}: func.yaml is not compared with its schema`);

const files: string[] = [];
for await (const file of glob('functions/*/func.yaml')) files.push(file);

describe.skipIf(schema === undefined)('func.yaml', () => {
  it('is refused by the schema when it has a field that func does not know', () => {
    const wrong = { specVersion: '1', created: '2026-01-01T00:00:00Z', runtimes: 'typescript' };
    expect(schema?.safeParse(wrong).success).toBe(false);
    expect(schema?.safeParse({ name: 'no-version' }).success).toBe(false);
  });

  it.each(files.toSorted())('%s is read by func', async (file) => {
    const text = await readFile(file, 'utf8');
    const declared: unknown = parse(text);
    expect(schema?.safeParse(declared).error?.issues).toBeUndefined();
    expect(declared).toMatchObject({ name: path.basename(path.dirname(file)), invoke: 'cloudevent' });
  });
});

function fetchSchema(): z.ZodType | undefined {
  const { status, stdout } = spawnSync('go', ['mod', 'download', '-json', func], {
    cwd: os.tmpdir(),
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (status !== 0) return undefined;
  const { Dir: folder } = z.object({ Dir: z.string() }).parse(JSON.parse(stdout));
  const text = readFileSync(path.join(folder, 'schema/func_yaml-schema.json'), 'utf8');
  return z.fromJSONSchema(JSON.parse(text));
}
