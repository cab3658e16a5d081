/** `npx node scripts/api-reference.ts`: writes docs/api-reference.md anew, after a kind has changed. `npm run check` fails until then. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { arcKinds } from '#shared/domain';
import { apiReference, referenceFile } from './reference/api-reference.ts';

await writeFile(path.join(import.meta.dirname, '..', referenceFile), apiReference(arcKinds));
