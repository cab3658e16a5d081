import { ArcError } from '#shared/base/errors';

/** lmdb takes keys of up to 1,978 bytes; the longest Kubernetes path (group, resource, namespace, name) stays under 600. */
export const maxKeyBytes = 1024;

/** Refuses keys no store could tell apart or hold: empty, longer than 1 KiB in UTF-8, or with half a surrogate pair. */
export function checkKey(key: string): void {
  if (key === '') throw new ArcError('BadRequest', 'a storage key must not be empty');
  if (!key.isWellFormed()) {
    throw new ArcError('BadRequest', `storage key ${JSON.stringify(key)} is not valid Unicode`);
  }
  // A UTF-16 unit takes at most three bytes, so most keys need no exact count.
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) {
    throw new ArcError(
      'BadRequest',
      `storage key ${key.slice(0, 80)}... is longer than ${maxKeyBytes} bytes`,
    );
  }
}

/**
 * The order of two keys by their UTF-8 bytes, as etcd and lmdb sort them: negative, zero or positive. Comparing
 * strings with `<` would put surrogate pairs (U+10000 and up) before U+E000..U+FFFF, where the bytes say after.
 */
export function compareKeys(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** A surrogate stands for a code point above all others of sixteen bits. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
