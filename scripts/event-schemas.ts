/** `npx node scripts/event-schemas.ts`: regenerates the JSON Schemas of domain events from their zod schemas. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { schemaFiles } from '#shared/conduit/events';

const folder = path.join(import.meta.dirname, '../knative/event-schemas');
await mkdir(folder, { recursive: true });
for (const [name, text] of schemaFiles()) await writeFile(path.join(folder, name), text);
