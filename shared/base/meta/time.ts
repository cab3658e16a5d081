/** Formats metav1.Time: RFC 3339 in UTC with whole seconds. `time` is a Date or milliseconds since 1970; fractions are truncated. */
export function isoSeconds(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, -5)}Z`;
}

/** Formats metav1.MicroTime: RFC 3339 in UTC with six decimals, of which a Date has three. */
export function isoMicroseconds(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/**
 * Parses an RFC 3339 time between 1970 and 9999 into milliseconds since 1970; undefined for any other text. Statuses of foreign kinds can hold
 * any text in place of a time.
 */
export function instantOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? ms : undefined;
}
