import { ArcError } from '#shared/base/errors';

/** LMDB supports keys of up to 1,978 bytes; the longest Kubernetes path (group, resource, namespace, name) is below 600. */
export const maxKeyBytes = 1024;

/** Throws BadRequest for keys that a store cannot hold: empty, longer than 1 KiB in UTF-8, or with a lone surrogate. */
export function checkKey(key: string): void {
  if (key === '') throw new ArcError('BadRequest', 'a storage key must not be empty');
  if (!key.isWellFormed()) {
    throw new ArcError('BadRequest', `storage key ${JSON.stringify(key)} is not valid Unicode`);
  }
  // A UTF-16 code unit takes at most three bytes, so most keys need no exact count.
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) {
    throw new ArcError(
      'BadRequest',
      `storage key ${key.slice(0, 80)}... is longer than ${maxKeyBytes} bytes`,
    );
  }
}

/**
 * Compares two keys by their UTF-8 bytes, as etcd and LMDB sort them. Comparing strings with `<` would sort surrogate pairs (U+10000 and
 * above) before U+E000..U+FFFF.
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

/** Ranks a surrogate above all other code units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
