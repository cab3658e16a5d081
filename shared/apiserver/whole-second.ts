/** RFC 3339 in UTC without fractions: metav1.Time has whole seconds. */
export function wholeSecond(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
