import * as z from 'zod';
import { conditions, observedGeneration, reference } from './common.ts';
import type { ObjectOf } from './meta.ts';

/** As a client may write it: `usage` gets its default when it is stored. */
export type EndpointSpec = z.input<typeof spec>;
export type EndpointTls = NonNullable<EndpointSpec['tls']>;
export type Usage = z.infer<typeof spec>['usage'];
const spec = z.object({
  type: z.string().describe('The type of the server, such as oci; the rules of artifact types refer to it.'),
  remoteURL: z
    .string()
    .describe('Where it is: https://host[:port][/prefix], http://… or a bare host[/prefix].'),
  secretRef: reference(
    'The Secret with the credentials: username and password, .dockerconfigjson, token, or a client certificate (tls.crt, tls.key).',
  ).exactOptional(),
  usage: z
    .enum(['PullOnly', 'PushOnly', 'All'])
    .default('All')
    .describe('Whether it may be a source (PullOnly), a destination (PushOnly) or both (All, the default).'),
  tls: z
    .object({
      caSecretRef: reference(
        'The Secret with the certificates to trust, as PEM under ca.crt.',
      ).exactOptional(),
      insecureSkipVerify: z.boolean().exactOptional().describe('True accepts any certificate. For tests.'),
      plainHTTP: z.boolean().exactOptional().describe('True speaks HTTP without TLS.'),
    })
    .exactOptional()
    .describe('How to secure the connection.'),
  tokenHosts: z
    .array(z.string())
    .exactOptional()
    .describe(
      "Other hosts to which the credentials may go: those of the registry's token service, such as gitlab.example.com for registry.example.com.",
    )
    .meta({ 'x-kubernetes-list-type': 'set' }),
  allowedTypes: z
    .array(z.string())
    .min(1)
    .exactOptional()
    .describe(
      'The ArtifactTypes and ClusterArtifactTypes that may use it, by name, as a source or as a destination. Absent: any.',
    )
    .meta({ 'x-kubernetes-list-type': 'set' }),
  policyRef: reference(
    'The ArtifactType or ClusterArtifactType whose parameter policy binds everything that is written here, whatever type an artifact names; beside the policy of its own type.',
  ).exactOptional(),
  redirectHosts: z
    .array(z.string())
    .exactOptional()
    .describe(
      'Other hosts to which its server may lead: from which is read, to which uploads are sent, and from whose registries images of its charts may be pulled. host, host:port or *.domain; a host without a port means the usual one. They receive no credentials. Unset: reading follows redirects to public addresses, and nothing is sent to another server.',
    )
    .meta({ 'x-kubernetes-list-type': 'set' }),
  maxInFlight: z.int().min(1).exactOptional().describe('How many transfers may use it at once.'),
});

export type EndpointStatus = z.infer<typeof status>;
const status = z.object({
  conditions: conditions.exactOptional(),
  observedGeneration,
  lastProbeTime: z.string().exactOptional().describe('When it was last tried.'),
  probed: z
    .object({
      generation: z.int().exactOptional().describe('The generation of the spec.'),
      secretGeneration: z.int().exactOptional().describe('The version of its credentials.'),
      request: z.string().exactOptional().describe('The value of the annotation probe-at.'),
    })
    .exactOptional()
    .describe('What the last probe was made of.'),
  secretGeneration: z.int().exactOptional().describe("Counts the changes of the referenced Secrets' data."),
  credentialDigest: z
    .string()
    .exactOptional()
    .describe('Keyed digest of that data, by which a change is noticed.'),
  inFlight: z
    .array(z.string())
    .exactOptional()
    .describe('ArtifactWorkflows that hold one of the slots of maxInFlight.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

export type Endpoint = ObjectOf<'Endpoint', { spec: EndpointSpec; status?: EndpointStatus }>;
export const endpointSchema = z.object({
  spec: spec.describe('The server, and how to reach it.'),
  status: status.exactOptional().describe('The observed state.'),
});
