import { ArcError } from '#shared/base/errors';
import { textDigest } from '../values/hash.ts';
import { filledText, list, object } from '../values/shape.ts';
import { parsePolicy, type TransferPolicy } from './policy.ts';

/** A policy as text, with its origin for people. */
export interface PolicyText {
  from: string;
  text: string;
}

/** One of the policies of a job: all of them must hold. */
export interface JobPolicy {
  /** Absent if the only policy is that of the artifact's type. */
  from?: string;
  /** SHA-256 of its text. */
  digest: string;
  policy: TransferPolicy;
}

const texts = list(object({ from: filledText, text: filledText }));

/**
 * Encodes the policies of a job. A type's policy alone is encoded as it is. Several are encoded as a list, which workers of earlier releases
 * refuse to parse: they transfer nothing, whereas an unknown field would be ignored.
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

/** Decodes the result of `policiesText`. Throws Invalid for any other list. */
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

/** Parses the policies of a job. Throws Invalid, which names the policy and its field. */
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
