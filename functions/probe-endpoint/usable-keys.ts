import { ArcError } from '#shared/base/errors';
import type { Endpoint, Validation } from '#shared/domain';
import { clientCertificate, parsePrivateKey, parsePublicKeys } from '#shared/transfer';

/** Extends the validation of an Endpoint: its bundle keys and its client certificate have to be parseable. */
export function withUsableKeys({ spec }: Endpoint, validation: Validation): Validation {
  if (!validation.valid) return validation;
  const { sign, trust } = validation.keys ?? {};
  const of = (key: string) => `${key} of Secret "${spec.secretRef?.name}"`;
  try {
    if (sign !== undefined) parsePrivateKey(sign, of('sign.key'));
    if (trust !== undefined) parsePublicKeys(trust, of('trust.pub'));
    clientCertificate(validation.client ?? {});
    return validation;
  } catch (caught) {
    const { message } = ArcError.from(caught);
    return { valid: false, finding: { status: 'False', reason: 'SecretInvalid', message } };
  }
}
