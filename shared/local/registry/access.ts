import { randomBytes, timingSafeEqual } from 'node:crypto';

export type AuthMode = 'none' | 'basic' | 'bearer';

export interface AccessOptions {
  auth: AuthMode;
  username: string;
  password: string;
}

/** Access control of the registry. A bearer token is valid for the scopes it was requested for, until it is revoked. */
export interface Access {
  /** The challenge to answer with 401, or undefined if the request is allowed. */
  challenge(authorization: string | undefined, scope: string, origin: string): string | undefined;
  /** A token for `scopes`, or undefined if the credentials are wrong. */
  issue(authorization: string | undefined, scopes: readonly string[]): string | undefined;
  /** Makes every token so far worthless, as an expiry does. */
  revokeTokens(): void;
}

const service = 'arc-demo-registry';

function same(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** `repository:name:pull,push` allows `repository:name:pull`. */
function allows(granted: string, wanted: string): boolean {
  const cut = (scope: string): [string, string[]] => {
    const colon = scope.lastIndexOf(':');
    return [scope.slice(0, colon), scope.slice(colon + 1).split(',')];
  };
  const [[grantedName, grantedActions], [name, actions]] = [cut(granted), cut(wanted)];
  return grantedName === name && actions.every((action) => grantedActions.includes(action));
}

/** Basic, Bearer or no authentication for one account. */
export function createAccess({ auth, username, password }: AccessOptions): Access {
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const tokens = new Map<string, readonly string[]>();
  return {
    challenge(authorization, scope, origin) {
      if (auth === 'none') return undefined;
      if (auth === 'basic') return same(authorization ?? '', basic) ? undefined : `Basic realm="${service}"`;
      const scopes = tokens.get(authorization?.replace(/^Bearer /, '') ?? '') ?? [];
      if (scopes.some((granted) => allows(granted, scope))) return undefined;
      return `Bearer realm="${origin}/token",service="${service}",scope="${scope}"`;
    },
    issue(authorization, scopes) {
      if (!same(authorization ?? '', basic)) return undefined;
      const token = randomBytes(24).toString('base64url');
      tokens.set(token, scopes);
      return token;
    },
    revokeTokens: () => tokens.clear(),
  };
}
