import { printable } from '#shared/base/errors';
import { matchesGlob } from '../reference/glob.ts';
import { type Keyless, keyOf, type Signature, type Verdict, verdictOn } from './signature.ts';

/** Whose signature counts: a public key as PEM, or who has a certificate. */
export type Signer = string | Identity;

export interface Identity {
  /** A pattern (`matchesGlob`) of the name in the certificate. */
  identity: string;
  /** Who has vouched for the name, as the certificate has it. */
  issuer: string;
}

export interface RequiredSigners {
  anyOf?: readonly Signer[];
  allOf?: readonly Signer[];
  /** The digest of the trust root by which certificates are judged. */
  trustedRoot?: string;
}

/** `keyless` is there where a rule asks for an identity. */
export type SignedBy = Signature & { keyless?: Keyless };

interface Signed {
  digest: string;
  signatures: readonly SignedBy[];
}

/** Whether certificates have to be looked at. */
export function asksForIdentity({ anyOf = [], allOf = [] }: RequiredSigners): boolean {
  return [...anyOf, ...allOf].some((signer) => typeof signer !== 'string');
}

/** What is missing, as the end of a sentence; undefined if the rule holds. */
export function unsigned(wanted: RequiredSigners | undefined, signed: Signed): string | undefined {
  const { anyOf, allOf = [] } = wanted ?? {};
  const isSigned = anyOf === undefined || anyOf.some((signer) => hasSigned(signer, signed));
  if (!isSigned)
    return `none of the signers of anyOf has signed ${signed.digest}: ${listed(anyOf ?? [], signed)}`;
  const missing = allOf.findIndex((signer) => !hasSigned(signer, signed));
  const signer = allOf[missing];
  return signer === undefined
    ? undefined
    : `the signer allOf[${missing}] has not signed ${signed.digest}: ${listed([signer], signed)}`;
}

function hasSigned(signer: Signer, { digest, signatures }: Signed): boolean {
  const verdict = verdicts(signer, digest);
  return signatures.some((signature) => verdict(signature) === 'signed');
}

function verdicts(signer: Signer, digest: string): (signature: SignedBy) => Verdict {
  if (typeof signer === 'string') {
    const key = keyOf(signer);
    return (signature) => verdictOn(signature, digest, key);
  }
  return ({ keyless }) => {
    if (keyless === undefined || 'refused' in keyless) return 'not-signed';
    const { identity, issuer, says } = keyless;
    if (issuer !== signer.issuer || !matchesGlob(signer.identity, identity)) return 'not-signed';
    return says.includes(digest) ? 'signed' : 'signed-something-else';
  };
}

/** What the signatures are that do not count. */
function listed(signers: readonly Signer[], { digest, signatures }: Signed): string {
  if (signatures.length === 0)
    return 'it has no cosign signature; one of a single platform does not count for the whole';
  const by = signers.map((signer) => verdicts(signer, digest));
  const isElse = (signature: SignedBy) =>
    by.some((verdict) => verdict(signature) === 'signed-something-else');
  const elsewhere = signatures.filter(isElse).length;
  const others = signatures.length - elsewhere;
  const parts = [
    ...(others > 0 ? [`${others} by another signer or tampered with`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} by a right signer, of something else`] : []),
  ];
  const certificates = signers.every((signer) => typeof signer === 'string') ? '' : certified(signatures);
  return `of its signatures, ${parts.join(' and ')}${certificates}`;
}

const mostTold = 3;
const longestTold = 300;

/** What was found in certificates: without it nobody knows what to write in a policy. */
function certified(signatures: readonly SignedBy[]): string {
  const judged = signatures.flatMap(({ keyless }) => (keyless === undefined ? [] : [keyless]));
  const found = [
    ...judged.flatMap((each) => ('refused' in each ? [] : [`by "${each.identity}" of "${each.issuer}"`])),
    ...judged.flatMap((each) => ('refused' in each ? [each.refused] : [])),
  ];
  const told = [...new Set(found)].slice(0, mostTold).map((each) => printable(each).slice(0, longestTold));
  return told.length === 0 ? '' : ` (certificates: ${told.join('; ')})`;
}
