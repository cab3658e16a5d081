import { hasExpired, isAgeingAuthority, isGoodAuthority, makeAuthority, type Pair } from './certificate.ts';

/** Who signs, and whom everybody is to trust beside it. */
export interface Authorities {
  signer: Pair;
  /** Will sign; trusted a year before that, since etcd reads whom it trusts only when it starts. */
  next?: Pair;
  /** Has signed: PEM. */
  former?: string;
}

/**
 * What the authorities become with time: three years before its end the signer gets a next one, two years before its end
 * that one signs, and the former is trusted until it expires. A signer that is missing or damaged, with no next one, is
 * replaced at once. Resolves with `found` itself where nothing is to change.
 */
export async function advance(found: Authorities, now: Date): Promise<Authorities> {
  const { signer, next, former } = found;
  const isNextGood = next !== undefined && isGoodAuthority(next, now);
  if (!isGoodAuthority(signer, now)) {
    if (!isNextGood) return { signer: await makeAuthority(now) };
    return { signer: next, ...(!hasExpired(signer.cert, now) && { former: signer.cert }) };
  }
  if (isAgeingAuthority(signer, now) && !isNextGood) return { ...found, next: await makeAuthority(now) };
  if (former !== undefined && hasExpired(former, now)) return { signer, ...(next && { next }) };
  return found;
}

/** PEM of all that are to be trusted, the signer first. */
export function trusted({ signer, next, former }: Authorities): string {
  return [signer.cert, next?.cert, former].filter((cert) => cert !== undefined).join('\n');
}
