import { hasExpired, isAgeingAuthority, isGoodAuthority, makeAuthority, type Pair } from './certificate.ts';

/** The authority that signs, and those that everybody must trust beside it. */
export interface Authorities {
  signer: Pair;
  /** Signs next. It is trusted a year earlier, since etcd reads the authorities that it trusts only when it starts. */
  next?: Pair;
  /** The certificate that signed before, PEM. */
  former?: string;
}

/**
 * The authorities at the time `now`: three years before the signer expires, a next one is made; two years before, that one signs, and the
 * former one is trusted until it expires. A signer that is missing or damaged, with no next one, is
 * replaced at once. Resolves with `found` itself when nothing has to change.
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

/** PEM of all authorities to trust, the signer first. */
export function trusted({ signer, next, former }: Authorities): string {
  return [signer.cert, next?.cert, former].filter((cert) => cert !== undefined).join('\n');
}
