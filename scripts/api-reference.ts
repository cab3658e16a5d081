/** `npx node scripts/api-reference.ts`: regenerates docs/api-reference.md and the table in docs/arcctl.md. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { arcKinds } from '#shared/domain';
import { processIo } from './arcctl/core/io.ts';
import { createProgram } from './arcctl/program.ts';
import { apiReference, referenceFile } from './reference/api-reference.ts';
import { arcctlPage, commandTable, withCommandTable } from './reference/arcctl-reference.ts';

const root = path.join(import.meta.dirname, '..');
await writeFile(path.join(root, referenceFile), apiReference(arcKinds));
const page = await readFile(path.join(root, arcctlPage), 'utf8');
const written = withCommandTable(page, commandTable(createProgram(processIo())));
if (written !== undefined) await writeFile(path.join(root, arcctlPage), written);
