import { printable } from '#shared/base/errors';
import { matchesGlob } from '../reference/glob.ts';
import { type Keyless, keyOf, type Signature, type Verdict, verifySignature } from './signature.ts';

/** An accepted signer: a public key as PEM, or an identity in a certificate. */
export type Signer = string | Identity;

export interface Identity {
  /** A pattern (`matchesGlob`) of the subject in the certificate. */
  identity: string;
  /** The OIDC issuer in the certificate. */
  issuer: string;
}

export interface RequiredSigners {
  anyOf?: readonly Signer[];
  allOf?: readonly Signer[];
  /** The digest of the trust root for certificates. */
  trustedRoot?: string;
}

/** `keyless` is set if a rule names an identity. */
export type SignedBy = Signature & { keyless?: Keyless };

interface Signed {
  digest: string;
  signatures: readonly SignedBy[];
}

/** True if certificates must be verified. */
export function requiresIdentity({ anyOf = [], allOf = [] }: RequiredSigners): boolean {
  return [...anyOf, ...allOf].some((signer) => typeof signer !== 'string');
}

/** Returns which signature is missing, as the end of a sentence; undefined if the rule holds. */
export function unsigned(wanted: RequiredSigners | undefined, signed: Signed): string | undefined {
  const { anyOf, allOf = [] } = wanted ?? {};
  const isSigned = anyOf === undefined || anyOf.some((signer) => hasSigned(signer, signed));
  if (!isSigned)
    return `none of the signers of anyOf has signed ${signed.digest}: ${describeSignatures(anyOf ?? [], signed)}`;
  const missing = allOf.findIndex((signer) => !hasSigned(signer, signed));
  const signer = allOf[missing];
  return signer === undefined
    ? undefined
    : `the signer allOf[${missing}] has not signed ${signed.digest}: ${describeSignatures([signer], signed)}`;
}

function hasSigned(signer: Signer, { digest, signatures }: Signed): boolean {
  const verdict = verdicts(signer, digest);
  return signatures.some((signature) => verdict(signature) === 'signed');
}

function verdicts(signer: Signer, digest: string): (signature: SignedBy) => Verdict {
  if (typeof signer === 'string') {
    const key = keyOf(signer);
    return (signature) => verifySignature(signature, digest, key);
  }
  return ({ keyless }) => {
    if (keyless === undefined || 'refused' in keyless) return 'not-signed';
    const { identity, issuer, signedDigests: says } = keyless;
    if (issuer !== signer.issuer || !matchesGlob(signer.identity, identity)) return 'not-signed';
    return says.includes(digest) ? 'signed' : 'signed-something-else';
  };
}

/** Describes the signatures that did not satisfy the rule. */
function describeSignatures(signers: readonly Signer[], { digest, signatures }: Signed): string {
  if (signatures.length === 0)
    return 'it has no cosign signature; the signature of a single platform does not cover the index';
  const by = signers.map((signer) => verdicts(signer, digest));
  const isForSomethingElse = (signature: SignedBy) =>
    by.some((verdict) => verdict(signature) === 'signed-something-else');
  const elsewhere = signatures.filter(isForSomethingElse).length;
  const others = signatures.length - elsewhere;
  const parts = [
    ...(others > 0 ? [`${others} by another signer or tampered with`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} by an accepted signer, but for something else`] : []),
  ];
  const certificates = signers.every((signer) => typeof signer === 'string')
    ? ''
    : describeCertificates(signatures);
  return `of its signatures, ${parts.join(' and ')}${certificates}`;
}

const maxShown = 3;
const maxShownLength = 300;

/** Describes the certificates found, which tells operators what to write into the policy. */
function describeCertificates(signatures: readonly SignedBy[]): string {
  const judged = signatures.flatMap(({ keyless }) => (keyless === undefined ? [] : [keyless]));
  const found = [
    ...judged.flatMap((each) => ('refused' in each ? [] : [`by "${each.identity}" of "${each.issuer}"`])),
    ...judged.flatMap((each) => ('refused' in each ? [each.refused] : [])),
  ];
  const shown = [...new Set(found)]
    .slice(0, maxShown)
    .map((each) => printable(each).slice(0, maxShownLength));
  return shown.length === 0 ? '' : ` (certificates: ${shown.join('; ')})`;
}
