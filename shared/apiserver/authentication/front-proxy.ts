import type { X509Certificate } from 'node:crypto';
import { subjectValues } from './chain.ts';
import type { FrontProxyConfig } from './config.ts';
import { type Connection, extraKey, headerNames, headerValues } from './connection.ts';
import type { User } from './user.ts';

/** True where the certificate carries one of the names that the front proxy may have. */
export function isAllowedName(config: FrontProxyConfig, certificate: X509Certificate): boolean {
  const name = subjectValues(certificate, 'CN').at(-1) ?? '';
  return config.allowedNames.length === 0 || config.allowedNames.includes(name);
}

/**
 * Whom a front proxy speaks for, from its X-Remote-* headers; undefined where it names nobody. The caller has verified the
 * proxy: from anybody else these headers mean nothing.
 */
export function remoteUser(
  config: FrontProxyConfig,
  request: Request,
  connection: Connection,
): User | undefined {
  const values = (names: readonly string[]) =>
    names.flatMap((name) => headerValues(request, connection, name));
  const name = values(config.usernameHeaders).find((value) => value.trim() !== '');
  if (name === undefined) return undefined;
  const uid = values(config.uidHeaders).find((value) => value !== '');
  const extra = new Map<string, string[]>();
  for (const prefix of config.extraPrefixes) {
    for (const header of headerNames(request, connection)) {
      if (!header.startsWith(prefix)) continue;
      const key = extraKey(header, prefix);
      extra.set(key, [...(extra.get(key) ?? []), ...headerValues(request, connection, header)]);
    }
  }
  return {
    name,
    groups: values(config.groupHeaders),
    ...(uid !== undefined && { uid }),
    ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
  };
}
