/** metav1.Time: RFC 3339 in UTC with whole seconds. `time` is a Date or milliseconds since 1970; fractions are cut. */
export function isoSeconds(time: Date | number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** metav1.MicroTime: RFC 3339 in UTC with six digits of fraction, of which a Date knows three. */
export function isoMicroseconds(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/**
 * Milliseconds since 1970 of an RFC 3339 time between 1970 and 9999, the years that can be written again; undefined for
 * any other text. Statuses of foreign kinds can hold any text in place of a time.
 */
export function instantOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? ms : undefined;
}
