import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Secret } from '../kinds/core.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { bundleType } from '../kinds/well-known.ts';
import { enforcementOn } from '../plan/enforced.ts';
import { type Access, accessOf, certificatesOf } from '../render/access.ts';
import { giveNamespace } from '../values/give-namespace.ts';
import type { Finding, ValidationReason } from './conditions.ts';

/** The existing objects that an Endpoint refers to. */
export interface EndpointInputs {
  secret?: Secret | undefined;
  ca?: Secret | undefined;
  /** The types with the name in `policyRef`. */
  types?: readonly ArtifactType[];
}

/** An Endpoint whose references are usable, with the inputs of a probe; or why they are not. */
export type Validation =
  | ({ valid: true; finding: Finding; ca?: string } & Access)
  | { valid: false; finding: Finding };

/** Checks that the Secrets and the policy of an Endpoint exist, and that the Secrets have the required keys. No text contains a value of a Secret. */
export function validateEndpoint(endpoint: Endpoint, { secret, ca, types = [] }: EndpointInputs): Validation {
  const { metadata, spec } = endpoint;
  const no = (reason: ValidationReason, message: string): Validation => ({
    valid: false,
    finding: { status: 'False', reason, message },
  });
  const name = spec.secretRef?.name;
  const absent = `not found: create it, or give the namespace to ARC with ${giveNamespace(metadata.namespace)}`;
  if (name !== undefined && !secret) return no('SecretNotFound', `Secret "${name}" ${absent}`);
  if (name === undefined && spec.type === bundleType)
    return no('SecretInvalid', 'spec.secretRef names no Secret: one with sign.key or trust.pub is needed');
  const access = secret && accessOf(spec.type, secret);
  if (typeof access === 'string') return no('SecretInvalid', access);
  const caName = spec.tls?.caSecretRef?.name;
  const pem = ca && certificatesOf(ca);
  if (caName !== undefined && pem === undefined)
    return no('CASecretNotFound', `Secret "${caName}" of tls.caSecretRef with the key ca.crt ${absent}`);
  const { namespace } = metadata;
  const { hold } = enforcementOn({ namespace, destination: endpoint, types, settings: {} });
  if (hold) return no('PolicyNotFound', hold.message);
  return {
    valid: true,
    finding: { status: 'True', reason: 'Valid', message: 'its Secrets hold what they must' },
    ...access,
    ...(caName === undefined || pem === undefined ? {} : { ca: pem }),
  };
}
