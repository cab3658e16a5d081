import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import type { CredentialSource } from './cached-credentials.ts';

/** Credentials that a cloud issues for the identity of a pod. */
export type IssuedCredentials =
  | { kind: 'basic'; username: string; password: string }
  /** Exchanged for access tokens at the registry's token service. */
  | { kind: 'identity'; token: string };

/** Credentials that are available without a fetch. */
export type OwnCredentials =
  | { kind: 'none'; hint?: string }
  | IssuedCredentials
  /** Sent unchanged, as a Bearer token. */
  | { kind: 'token'; token: string };

/** The credentials for one registry. */
export type RegistryCredentials = OwnCredentials | CloudCredentials;

/** Credentials of the pod's identity, fetched when the registry requires them. */
export interface CloudCredentials {
  kind: 'cloud';
  /** The name of the identity, for messages. */
  owner: () => string;
  fetch: CredentialSource<IssuedCredentials>;
  /** True: the registry requires a token even for public content, and issues it to anybody. An anonymous token is tried first. */
  tokensForAll?: true;
}

interface Entry {
  auth?: unknown;
  username?: unknown;
  password?: unknown;
  identitytoken?: unknown;
  registrytoken?: unknown;
}

function malformed(why: string): TransferError {
  return new TransferError('config', `The Secret's .dockerconfigjson cannot be used: ${why}.`);
}

function parseEntries(json: string): Map<string, Entry> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    // The parser's message quotes the text, which contains credentials.
    throw malformed('it is not JSON');
  }
  const auths = isRecord(parsed) ? parsed.auths : undefined;
  if (!isRecord(auths)) throw malformed('it has no "auths" object');
  return new Map(
    Object.entries(auths).flatMap(([key, value]) => (isRecord(value) ? [[key, value] as const] : [])),
  );
}

/** Maps `https://index.docker.io/v1/` and `docker.io` to one key, and `https://host/v2/` and `host`. */
function normalizeKey(key: string): string {
  const bare = key.replace(/^https?:\/\//, '').replace(/\/(?:v1|v2)?\/?$/, '');
  return bare.replace(/^(?:index\.docker\.io|registry-1\.docker\.io)(?=$|\/)/, 'docker.io');
}

/** Ranks how closely `key` matches `host/repository`: 0 is no match; a longer path ranks higher, then an exact host over a `*`. */
function matchScore(key: string, host: string, repository: string): number {
  const slash = key.indexOf('/');
  const keyHost = slash === -1 ? key : key.slice(0, slash);
  const keyPath = slash === -1 ? '' : key.slice(slash + 1);
  const exact = keyHost.toLowerCase() === host.toLowerCase();
  if (!exact && !matchesGlob(keyHost, host)) return 0;
  if (keyPath !== '' && repository !== keyPath && !repository.startsWith(`${keyPath}/`)) return 0;
  return 1 + (exact ? 1 : 0) + 2 * keyPath.length;
}

/** Matches `*` within one label of the host name, like the kubelet's image pull secrets. */
function matchesGlob(pattern: string, host: string): boolean {
  if (!pattern.includes('*')) return false;
  const labels = pattern.toLowerCase().split('.');
  const parts = host.toLowerCase().split('.');
  return (
    labels.length === parts.length && labels.every((label, index) => matchesLabel(label, parts[index] ?? ''))
  );
}

function matchesLabel(label: string, part: string): boolean {
  const [before, ...after] = label.split('*');
  const last = after.at(-1);
  if (last === undefined) return label === part;
  return part.length >= label.length - 1 && part.startsWith(before ?? '') && part.endsWith(last);
}

function decodeAuth(auth: string): OwnCredentials {
  const text = Buffer.from(auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) throw malformed('an "auth" value is not the base64 form of username:password');
  return {
    kind: 'basic',
    username: text.slice(0, colon),
    password: text.slice(colon + 1).replace(/\0+$/, ''),
  };
}

function credentialsOf(entry: Entry): OwnCredentials {
  const { auth, username, password, identitytoken, registrytoken } = entry;
  if (typeof identitytoken === 'string' && identitytoken !== '')
    return { kind: 'identity', token: identitytoken };
  if (typeof registrytoken === 'string' && registrytoken !== '')
    return { kind: 'token', token: registrytoken };
  if (typeof username === 'string' && username !== '' && typeof password === 'string') {
    return { kind: 'basic', username, password };
  }
  if (typeof auth === 'string' && auth !== '') return decodeAuth(auth);
  return { kind: 'none' };
}

/**
 * Returns the credentials in a docker `config.json` for `host/repository`: those of the entry with the longest matching path. Without a
 * match, `none` with a hint that lists the hosts. Throws a config TransferError for malformed input.
 */
export function lookupDockerConfig(json: string, host: string, repository: string): OwnCredentials {
  const entries = parseEntries(json);
  let best: { score: number; entry: Entry } | undefined;
  for (const [key, entry] of entries) {
    const score = matchScore(normalizeKey(key), host, repository);
    if (score > (best?.score ?? 0)) best = { score, entry };
  }
  if (best) return credentialsOf(best.entry);
  const known = [...entries.keys()].slice(0, 5).map(normalizeKey).join(', ');
  return { kind: 'none', hint: `its docker config has no entry for ${host} (entries: ${known || 'none'})` };
}

/** Returns every password and token in a docker `config.json`; none if it is malformed. */
export function secretsOfDockerConfig(json: string): string[] {
  let entries: Map<string, Entry>;
  try {
    entries = parseEntries(json);
  } catch {
    // lookupDockerConfig reports the error; the whole text is masked anyway.
    return [];
  }
  return [...entries.values()].flatMap(({ auth, password, identitytoken, registrytoken }) => {
    const decoded = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString('utf8') : '';
    const pair = decoded.slice(decoded.indexOf(':') + 1);
    return [auth, pair, password, identitytoken, registrytoken].filter((each) => typeof each === 'string');
  });
}
