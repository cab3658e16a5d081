/** An unsigned token as projected by the kubelet. */
export function podToken(subject: string, audience = 'sts.amazonaws.com'): string {
  return jwt({ iss: 'https://cluster.example', sub: subject, aud: [audience] });
}

/** An unsigned JWT with `claims`. */
export function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
}

/** The audience of a pod token. */
export function audienceOf(token: string): string {
  const claims: { aud: string[] } = JSON.parse(
    Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
  );
  return claims.aud.join();
}
