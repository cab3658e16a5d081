import * as z from 'zod';
import { duration, freeObject, parameters, retry, workflowTemplateRef } from './common.ts';
import type { ObjectOf } from './meta.ts';

const types = (what: string) =>
  z
    .array(z.string())
    .exactOptional()
    .describe(`Types of Endpoint that may be the ${what}; empty allows all.`)
    .meta({ 'x-kubernetes-list-type': 'set' });

/** An ArtifactType or a ClusterArtifactType: they differ only in kind and namespace. */
export type ArtifactType = ObjectOf<
  'ArtifactType' | 'ClusterArtifactType',
  z.infer<typeof artifactTypeSchema>
>;
export type ArtifactTypeSpec = ArtifactType['spec'];
export const artifactTypeSchema = z.object({
  spec: z
    .object({
      rules: z
        .object({ srcTypes: types('source'), dstTypes: types('destination') })
        .exactOptional()
        .describe('Which Endpoints the type can be moved between.'),
      parameters: parameters
        .exactOptional()
        .describe("Inputs of the template; they win over the artifact's."),
      target: z
        .array(z.string())
        .exactOptional()
        .describe(
          'Parameters of which the first that is set names the place at the destination that is written to. Default: the whole spec of the artifact.',
        )
        .meta({ 'x-kubernetes-list-type': 'atomic' }),
      workflowTemplateRef,
      ttlAfterFinished: duration(
        'ArtifactWorkflows are removed that long after success; unset keeps them.',
      ).exactOptional(),
      ttlAfterFailed: duration(
        'ArtifactWorkflows are removed that long after failure; unset keeps them.',
      ).exactOptional(),
      schema: freeObject('OpenAPI v3 schema of artifacts[].spec.').exactOptional(),
      retry: retry.exactOptional(),
      queueName: z
        .string()
        .exactOptional()
        .describe('The Kueue LocalQueue to wait in, where the Order names none.'),
    })
    .describe('How artifacts of this type are moved.'),
});
