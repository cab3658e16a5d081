import * as z from 'zod';
import { duration, freeObject, parameters, retry, workflowTemplateRef } from './common-schema.ts';

const types = (what: string) =>
  z
    .array(z.string())
    .optional()
    .describe(`Types of Endpoint that may be the ${what}; empty allows all.`)
    .meta({ 'x-kubernetes-list-type': 'set' });

export const artifactTypeSchema = z.object({
  spec: z
    .object({
      rules: z
        .object({ srcTypes: types('source'), dstTypes: types('destination') })
        .optional()
        .describe('Which Endpoints the type can be moved between.'),
      parameters: parameters.optional().describe("Inputs of the template; they win over the artifact's."),
      workflowTemplateRef,
      ttlAfterFinished: duration(
        'ArtifactWorkflows are removed that long after success; unset keeps them.',
      ).optional(),
      ttlAfterFailed: duration(
        'ArtifactWorkflows are removed that long after failure; unset keeps them.',
      ).optional(),
      schema: freeObject('OpenAPI v3 schema of artifacts[].spec.').optional(),
      retry: retry.optional(),
      queueName: z
        .string()
        .optional()
        .describe('The Kueue LocalQueue to wait in, where the Order names none.'),
    })
    .describe('How artifacts of this type are moved.'),
});
