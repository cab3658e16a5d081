/** One challenge of a `WWW-Authenticate` header (RFC 9110, 11.6.1): scheme in lower case, parameters by lower-case name. */
export interface Challenge {
  scheme: string;
  parameters: Readonly<Record<string, string>>;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
// Spaces match in one way only, because a header full of spaces would otherwise take quadratic time.
// An unquoted value ends at a comma: a stricter parser would stop within the URL of a token service.
const parameter = new RegExp(`^\\s*(?:,\\s*)?(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`);
// Negotiate and NTLM use this form instead of parameters.
const token68 = /^\s+[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/;
const scheme = new RegExp(`^[\\s,]*(${token})(?=\\s|$|,)(?!\\s*=)`);
const maxHeaderLength = 8192;

/** Parses the challenges in one header value, up to 8 KiB. Malformed parts are skipped. */
export function parseChallenges(header: string): Challenge[] {
  let rest = header.slice(0, maxHeaderLength);
  const challenges: Challenge[] = [];
  for (let match = scheme.exec(rest); match; match = scheme.exec(rest)) {
    rest = rest.slice(match[0].length);
    rest = rest.replace(token68, '');
    const parameters: Record<string, string> = {};
    for (let pair = parameter.exec(rest); pair; pair = parameter.exec(rest)) {
      rest = rest.slice(pair[0].length);
      parameters[(pair[1] ?? '').toLowerCase()] = pair[2]?.replace(/\\(.)/g, '$1') ?? pair[3] ?? '';
    }
    challenges.push({ scheme: (match[1] ?? '').toLowerCase(), parameters });
  }
  return challenges;
}
