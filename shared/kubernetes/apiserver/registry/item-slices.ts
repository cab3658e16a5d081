import type { StoredItem } from '#shared/kubernetes/storage';

const sliceItems = 500;
const sliceBytes = 512 * 1024;

/** Items in parts of a few ms of work each, such as to parse them: at most `most`, and 512 KiB unless it is a single one. */
export function* itemSlices(
  items: readonly StoredItem[],
  most = sliceItems,
): Generator<readonly StoredItem[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { value }] of items.entries()) {
    if (at > from && (at - from === most || bytes + value.byteLength > sliceBytes)) {
      yield items.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += value.byteLength;
  }
  if (from < items.length) yield items.slice(from);
}
