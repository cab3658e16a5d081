import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { schemaFiles } from './schema-files.ts';

const folder = 'knative/event-schemas';

describe('the published schemas of domain events', () => {
  it('are what the zod schemas say', async () => {
    const files = schemaFiles();
    const stale = `run: npx node scripts/event-schemas.ts`;
    expect((await readdir(folder)).toSorted(), stale).toEqual([...files.keys()].toSorted());
    for (const [name, text] of files)
      expect(await readFile(path.join(folder, name), 'utf8'), stale).toBe(text);
  });

  it('have their file name at the end of their $id, and let through what a later conduit adds', () => {
    for (const [name, text] of schemaFiles()) {
      const schema = z
        .looseObject({ $schema: z.url(), $id: z.url(), title: z.string() })
        .parse(JSON.parse(text));
      expect(schema.$id).toBe(`https://arc.opendefense.cloud/schemas/${name}`);
      expect(text).not.toContain('additionalProperties');
    }
  });
});
