import type { Secret } from '../kinds/core.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { JobCredentials } from '../render/job.ts';
import { certificatesOf, credentialsOf } from '../render/render.ts';
import { giveNamespace } from '../values/give-namespace.ts';
import type { Finding, ValidationReason } from './conditions.ts';

/** What an Endpoint refers to, as far as it exists. */
export interface EndpointInputs {
  secret?: Secret | undefined;
  ca?: Secret | undefined;
}

/** An Endpoint whose references are usable, with what a probe needs of them; or why they are not. */
export type Validation =
  | { valid: true; finding: Finding; credentials?: JobCredentials; ca?: string }
  | { valid: false; finding: Finding };

/** Whether the Secrets of an Endpoint exist and hold what they must. Never a value of theirs in the text. */
export function validateEndpoint({ metadata, spec }: Endpoint, { secret, ca }: EndpointInputs): Validation {
  const no = (reason: ValidationReason, message: string): Validation => ({
    valid: false,
    finding: { status: 'False', reason, message },
  });
  const name = spec.secretRef?.name;
  const absent = `not found: create it, or give the namespace to ARC with ${giveNamespace(metadata.namespace)}`;
  if (name !== undefined && !secret) return no('SecretNotFound', `Secret "${name}" ${absent}`);
  const credentials = name === undefined || !secret ? undefined : credentialsOf(secret);
  if (typeof credentials === 'string') return no('SecretInvalid', credentials);
  const caName = spec.tls?.caSecretRef?.name;
  const pem = ca && certificatesOf(ca);
  if (caName !== undefined && pem === undefined)
    return no('CASecretNotFound', `Secret "${caName}" of tls.caSecretRef with the key ca.crt ${absent}`);
  return {
    valid: true,
    finding: { status: 'True', reason: 'Valid', message: 'its Secrets hold what they must' },
    ...(credentials === undefined ? {} : { credentials }),
    ...(caName === undefined || pem === undefined ? {} : { ca: pem }),
  };
}
