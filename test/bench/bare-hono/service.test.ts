import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { bareHonoService, type KnativeService } from './service.ts';

it('differs from our function in its name and in what it runs, and in nothing else', async () => {
  const ours: KnativeService = parse(await readFile('knative/base/decompose-order/service.yaml', 'utf8'));
  const theirs = bareHonoService(ours);
  const [container] = theirs.spec.template.spec.containers;
  expect([theirs.metadata.name, container.image, container.command]).toEqual([
    'bare-hono',
    'dev.local/bare-hono:bench',
    ['node', '/app/bare-hono.mjs'],
  ]);
  const { image, command } = ours.spec.template.spec.containers[0];
  expect({ ...theirs.spec.template.spec, containers: [{ ...container, image, command }] }).toEqual(
    ours.spec.template.spec,
  );
  expect(theirs.spec.template.metadata.annotations).toEqual(ours.spec.template.metadata.annotations);
  expect(theirs.metadata.labels).toEqual({ 'networking.knative.dev/visibility': 'cluster-local' });
});
