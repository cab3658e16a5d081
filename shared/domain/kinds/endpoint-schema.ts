import * as z from 'zod';
import { conditions, observedGeneration, reference } from './common-schema.ts';

const spec = z.object({
  type: z.string().describe('What is there, such as oci, helm, s3 or http; rules of types go by it.'),
  remoteURL: z
    .string()
    .describe('Where it is: https://host[:port][/prefix], http://… or a bare host[/prefix].'),
  secretRef: reference(
    'The Secret with the credentials: username and password, .dockerconfigjson, or token.',
  ).optional(),
  usage: z
    .enum(['PullOnly', 'PushOnly', 'All'])
    .default('All')
    .describe('Whether it may be a source (PullOnly), a destination (PushOnly) or both (All, the default).'),
  tls: z
    .object({
      caSecretRef: reference('The Secret with the certificates to trust, as PEM under ca.crt.').optional(),
      insecureSkipVerify: z.boolean().optional().describe('True accepts any certificate. For tests.'),
      plainHTTP: z.boolean().optional().describe('True speaks HTTP without TLS.'),
    })
    .optional()
    .describe('How to secure the connection.'),
  maxInFlight: z.int().min(1).optional().describe('How many transfers may use it at once.'),
});

const status = z.object({
  conditions: conditions.optional(),
  observedGeneration,
  lastProbeTime: z.string().optional().describe('When it was last tried.'),
  secretGeneration: z.int().optional().describe("Counts the changes of the referenced Secret's data."),
  credentialDigest: z.string().optional().describe('Keyed digest of that data, to tell changes.'),
  inFlight: z
    .array(z.string())
    .optional()
    .describe('ArtifactWorkflows that hold one of the slots of maxInFlight.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

export const endpointSchema = z.object({
  spec: spec.describe('A place that artifacts come from or go to.'),
  status: status.optional().describe('What is known of it.'),
});
