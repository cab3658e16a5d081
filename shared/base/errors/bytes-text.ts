const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a number of bytes for people: `20 bytes`, `33.5 KiB`, `1.5 MiB`, in the units of kubectl and skopeo. At most one decimal. */
export function bytesText(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let [value, unit] = [bytes, 0];
  // 1023.96 KiB would be printed as 1024 KiB.
  while (Math.round(value * 10) >= 10_240 && unit < units.length - 1)
    [value, unit] = [value / 1024, unit + 1];
  return `${Math.round(value * 10) / 10} ${units[unit]}`;
}
