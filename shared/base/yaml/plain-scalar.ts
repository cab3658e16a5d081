/** Plain scalars of YAML 1.1 as Kubernetes reads them (sigs.k8s.io/yaml, go-yaml 2). */
const words = new Map<string, boolean | null>();
for (const text of ['', '~', 'null', 'Null', 'NULL']) words.set(text, null);
for (const text of ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
  words.set(text, true);
for (const text of ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
  words.set(text, false);

const notFinite = /^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/;
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** go-yaml reads integers beyond uint64 as floats. */
const beyondUint64 = 2n ** 64n;

/**
 * Returns the value of a scalar that is neither quoted nor tagged. Times, sexagesimal numbers and numbers beyond float64 stay texts; numbers
 * that JSON lacks (`.inf`) are NaN. An integer that a float64 may not represent is a bigint.
 */
export function plainScalar(text: string): string | number | bigint | boolean | null {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (notFinite.test(text)) return Number.NaN;
  if (!/^[-+.0-9]/.test(text)) return text;
  // After a leading point an underscore has to be between digits; elsewhere go-yaml allows underscores anywhere.
  if (text.startsWith('.') && /(?<![0-9])_|_(?![0-9])/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  const whole = integer.exec(digits);
  if (whole) return integerOf(whole);
  const number = float.test(digits) ? Number(digits) : Number.NaN;
  return Number.isFinite(number) ? number : text;
}

function integerOf([, sign, hexadecimal, binary, octal, decimal]: RegExpExecArray): number | bigint {
  const [digits = '0', base, prefix] =
    hexadecimal !== undefined
      ? ([hexadecimal, 16, '0x'] as const)
      : binary !== undefined
        ? ([binary, 2, '0b'] as const)
        : octal !== undefined
          ? ([octal, 8, '0o'] as const)
          : ([decimal, 10, ''] as const);
  // Not parseInt, which may be inexact for base 10.
  const size = base === 10 ? Number(digits) : Number.parseInt(digits, base);
  if (Number.isSafeInteger(size) || size > Number(beyondUint64))
    return sign === '-' && size !== 0 ? -size : size;
  const exact = BigInt(prefix + digits);
  if (exact >= beyondUint64) return sign === '-' ? -size : size;
  return sign === '-' ? -exact : exact;
}
