/** `npx node scripts/event-schemas.ts`: writes the JSON Schemas of domain events anew, after their zod schemas have changed. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { schemaFiles } from '#shared/conduit/events';

const folder = path.join(import.meta.dirname, '../knative/event-schemas');
await mkdir(folder, { recursive: true });
for (const [name, text] of schemaFiles()) await writeFile(path.join(folder, name), text);
