import { TransferError } from '../errors/transfer-error.ts';

const units = new Map([
  ['', 1],
  ['B', 1],
  ...['K', 'M', 'G', 'T'].flatMap((letter, at): [string, number][] => [
    [`${letter}B`, 1000 ** (at + 1)],
    [`${letter}iB`, 1024 ** (at + 1)],
    // Kubernetes quantities.
    [letter, 1000 ** (at + 1)],
    [`${letter}i`, 1024 ** (at + 1)],
  ]),
]);

/** Smaller parts would result in too many files. */
const minPartBytes = 64 * 1024;

/** Parses the size of a part, such as `4GiB`, `700MB` or `2Gi`, in bytes; `field` names it in messages. Throws a config TransferError. */
export function partSizeOf(text: string, field: string): number {
  const [, digits, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?) ?([A-Za-z]{0,3})$/.exec(text) ?? [];
  const factor = units.get(unit);
  const bytes =
    digits === undefined || factor === undefined ? Number.NaN : Math.floor(Number(digits) * factor);
  if (Number.isSafeInteger(bytes) && bytes >= minPartBytes) return bytes;
  throw new TransferError(
    'config',
    `${field} "${text.slice(0, 50)}" is not a size of 64KiB or more, such as 4GiB or 700MB.`,
  );
}
