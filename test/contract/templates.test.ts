import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { parseQuantity } from '#shared/domain';
import { manifestFiles } from '#shared/local';

const template = z.looseObject({
  kind: z.literal('ClusterWorkflowTemplate'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    podSpecPatch: z.string(),
    templates: z.tuple([z.looseObject({ activeDeadlineSeconds: z.string() })]),
  }),
});
const emptyDir = z.object({ sizeLimit: z.string().optional() });
const volumes = z.object({
  volumes: z.array(z.looseObject({ name: z.string(), emptyDir: emptyDir.optional() })),
});

/** Bytes that a worker moves at most where its template says nothing else. */
const mostBytes = 64 * 1024 ** 3;

describe('every workflow template of ARC', () => {
  let texts: string[] = [];
  beforeAll(async () => {
    const files = await manifestFiles('knative/workflow-templates');
    files.push('knative/components/quarantine/template.yaml');
    const all = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    texts = all.filter((text) => template.safeParse(parse(text)).success);
    expect(texts).toHaveLength(4);
  });

  it('has nothing of a user but the name of the rendered Secret, and that in no command line', () => {
    for (const text of texts) {
      const substituted = [...text.matchAll(/^.*\{\{.*$/gm)].map(([line]) => line.trim());
      expect(substituted).toEqual([`secretName: '{{workflow.parameters.configSecretName}}'`]);
    }
  });

  it('ends a transfer after a day, and one that is larger than its volumes', () => {
    for (const text of texts) {
      const { metadata, spec } = template.parse(parse(text));
      expect(Number(spec.templates[0].activeDeadlineSeconds), metadata.name).toBe(24 * 60 * 60);
      const given = 'volumes' in spec ? spec : parse(spec.podSpecPatch);
      const sizes = volumes
        .parse(given)
        .volumes.filter(({ name }) => ['work', 'quarantine'].includes(name))
        .map((volume) => parseQuantity(volume.emptyDir?.sizeLimit ?? '') ?? 0);
      const limits = [...text.matchAll(/ARC_MAX_BYTES\n +value: '(\d+)'/g)].map(([, bytes]) => Number(bytes));
      expect(Math.max(...limits, limits.length > 0 ? 0 : mostBytes), metadata.name).toBe(Math.min(...sizes));
    }
  });
});
