import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { shippedFiles } from '../core/shipped.ts';
import { tenantObjects } from './tenant.ts';

const folder = path.resolve(import.meta.dirname, '../../../knative/tenant');

it('a namespace is given with all that knative/tenant holds', async () => {
  const kustomization = await readFile(path.join(folder, 'kustomization.yaml'), 'utf8');
  const resources = [...kustomization.matchAll(/^ {2}- (.+)$/gm)].map(([, file]) => `knative/tenant/${file}`);
  expect(shippedFiles).toEqual(expect.arrayContaining(resources));
  const objects = await tenantObjects('team');
  expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['team']));
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
    expect.arrayContaining(['ServiceAccount arc-workflow', 'RoleBinding arc-submit-workflow-tenant']),
  );
});
