import { isRecord } from '#shared/base/meta';

/** What a JWT says of itself, unverified; nothing for what is none. */
export function claimsOf(token: string): Record<string, unknown> {
  return jsonOf(Buffer.from(token.split('.')[1] ?? '', 'base64url'));
}

/** The object that JSON holds; an empty one for anything else. */
export function jsonOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
