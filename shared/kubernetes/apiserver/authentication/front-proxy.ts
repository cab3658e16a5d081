import type { X509Certificate } from 'node:crypto';
import type { IncomingRequest } from '../http/connection.ts';
import { type Connection, extraKey, headerNames, headerValues } from '../http/connection.ts';
import { subjectValues } from './chain.ts';
import type { FrontProxyConfig } from './config.ts';
import type { User } from './user/user.ts';

/** Tells whether the common name of a certificate is allowed. */
export function isAllowedName(config: FrontProxyConfig, certificate: X509Certificate): boolean {
  const name = subjectValues(certificate, 'CN').at(-1) ?? '';
  return config.allowedNames.length === 0 || config.allowedNames.includes(name);
}

/**
 * Returns the user in the X-Remote-* headers, if any. The caller must have verified that the client is a front proxy: the headers of other
 * clients must be ignored.
 */
export function remoteUser(
  config: FrontProxyConfig,
  request: IncomingRequest,
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
