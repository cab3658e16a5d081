import { size } from './scalars.ts';

/** A shorter match would take as many bytes as it saves. */
const shortest = 5;
/** By the hash of four characters, where they were last seen; what is below `since` is of texts before. */
const lastSeen = new Int32Array(1 << 10);
let since = 1;

/**
 * A text of one-byte characters without what it says twice, as an object does of its names, uids and times: plain characters and a match in
 * turns, each with its length before it. A match is a part of what precedes it, given by the distance from its beginning to there.
 */
export function packed(text: string): string {
  if (since > 2 ** 30) {
    lastSeen.fill(0);
    since = 1;
  }
  let out = size(text.length);
  let plain = 0;
  let four = 0;
  for (let at = 0; at < text.length; at += 1) {
    four = (four << 8) | text.charCodeAt(at);
    const start = at - 3;
    if (start < plain) continue;
    const slot = Math.imul(four, 0x9e3779b1) >>> 22;
    const former = (lastSeen[slot] ?? 0) - since;
    lastSeen[slot] = since + start;
    const length = former < 0 ? 0 : alike(text, former, start);
    if (length < shortest) continue;
    out += size(start - plain) + text.slice(plain, start) + size(length) + size(start - former);
    plain = start + length;
    at = plain - 1;
  }
  since += text.length;
  return out + size(text.length - plain) + text.slice(plain);
}

/** So many characters from both places are the same, and stand before the second one. */
function alike(text: string, former: number, start: number): number {
  const most = Math.min(start - former, text.length - start);
  let length = 0;
  while (length < most && text.charCodeAt(former + length) === text.charCodeAt(start + length)) length += 1;
  return length;
}

/** The text that was packed so. */
export function unpacked(text: string): string {
  let at = 0;
  const number = () => {
    let count = 0;
    for (let weight = 1; ; weight *= 0x80) {
      const byte = text.charCodeAt(at);
      at += 1;
      count += (byte & 0x7f) * weight;
      if (byte < 0x80) return count;
    }
  };
  const whole = Buffer.allocUnsafe(number());
  for (let filled = 0; at < text.length; ) {
    const plain = number();
    filled += whole.write(text.slice(at, at + plain), filled, 'latin1');
    at += plain;
    if (at === text.length) break;
    const length = number();
    const from = filled - number();
    whole.copyWithin(filled, from, from + length);
    filled += length;
  }
  return whole.toString('latin1');
}
