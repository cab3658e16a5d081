import { createHash } from 'node:crypto';
import { canonicalJson } from '#shared/base/meta';
import { hashDigits } from './limits.ts';

/** Returns the first 16 hex digits of SHA-256 over the canonical JSON of `value`. */
export function shortHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, hashDigits);
}

/** Returns the digest of a text: `sha256:` and the output of `sha256sum`. */
export function textDigest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
