import { ArcError } from '#shared/base/errors';
import { textDigest } from '../values/hash.ts';
import { filledText, list, object } from '../values/shape.ts';
import { parsePolicy, type TransferPolicy } from './policy.ts';

/** A policy as text, with who asks for it, for people. */
export interface PolicyText {
  from: string;
  text: string;
}

/** One of the policies of a job: all have to be fulfilled. */
export interface JobPolicy {
  /** Absent for the policy of the artifact's type alone. */
  from?: string;
  /** SHA-256 of its text. */
  digest: string;
  policy: TransferPolicy;
}

const texts = list(object({ from: filledText, text: filledText }));

/**
 * The policies of a job as one text. That of the type alone stands as it is. With others it is a list, which a worker of an earlier release refuses
 * to read: it moves nothing, where it would pass over a field that it does not know.
 */
export function policiesText(
  ofType: PolicyText | undefined,
  enforced: readonly PolicyText[],
): string | undefined {
  if (enforced.length === 0) return ofType?.text;
  const byText = Map.groupBy([...(ofType ? [ofType] : []), ...enforced], ({ text }) => text);
  const all = [...byText].map(([text, same]) => ({ from: same.map(({ from }) => from).join(', '), text }));
  return JSON.stringify(all);
}

/** Returns what `policiesText` has put together. Throws Invalid for a list that is not one of policies. */
export function policyTexts(json: string): (Pick<PolicyText, 'text'> & Partial<PolicyText>)[] {
  if (!json.trimStart().startsWith('[')) return [{ text: json }];
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new ArcError('Invalid', 'policy must be JSON');
  }
  const found = texts(value, 'policy');
  if (found.length === 0) throw new ArcError('Invalid', 'policy must be a list that is not empty');
  return found;
}

/** Reads the policies of a job. Throws Invalid, which names the policy and its field. */
export function parsePolicies(json: string): JobPolicy[] {
  return policyTexts(json).map(({ from, text }) => {
    if (from === undefined) return { digest: textDigest(text), policy: parsePolicy(text) };
    try {
      return { from, digest: textDigest(text), policy: parsePolicy(text) };
    } catch (caught) {
      throw new ArcError('Invalid', `${from}: ${ArcError.from(caught).message}`);
    }
  });
}
