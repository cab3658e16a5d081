import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import type { Authenticator, User } from '#shared/kubernetes/apiserver';
import { readIfPresent, writeAtomically } from './state-files.ts';

/** The namespace of ARC's ServiceAccounts. */
export const conduitNamespace = 'arc-system';

/** The clients of the standalone's API, each with its own token. */
export interface Identities {
  authenticate: Authenticator;
  /** Returns the bearer token of a ServiceAccount, or of `admin`; created on first use. */
  tokenOf(name: string): string;
}

/**
 * Loads the tokens of the standalone in `folder`. They are stored in a file that only its owner can read, so that an existing kubeconfig stays
 * valid after a restart.
 */
export async function loadIdentities(folder: string, names: readonly string[]): Promise<Identities> {
  const file = path.join(folder, 'tokens.json');
  const saved = (await readIfPresent(file)) ?? '{}';
  const tokens = new Map(Object.entries(JSON.parse(saved) as Record<string, string>));
  const fresh = names.filter((name) => !tokens.has(name));
  for (const name of fresh) tokens.set(name, randomBytes(32).toString('base64url'));
  if (fresh.length > 0) await writeAtomically(file, JSON.stringify(Object.fromEntries(tokens)));

  const users = new Map([...tokens].map(([name, token]) => [token, userOf(name)]));
  return {
    tokenOf(name) {
      const token = tokens.get(name);
      if (token === undefined)
        throw new ArcError('InternalError', `the standalone has no identity named ${name}`);
      return token;
    },
    // A map lookup of a 256-bit random token leaks nothing through timing.
    authenticate(request) {
      const header = request.headers.get('authorization');
      if (header === null) return Promise.resolve(undefined);
      const user = users.get(header.replace(/^Bearer /i, ''));
      return user ? Promise.resolve(user) : Promise.reject(new ArcError('Unauthorized', 'Unauthorized'));
    },
  };
}

function userOf(name: string): User {
  if (name === 'admin') return { name: 'admin', groups: ['system:masters'] };
  const [namespace, account] = name.includes('/') ? name.split('/') : [conduitNamespace, name];
  return {
    name: `system:serviceaccount:${namespace}:${account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}
