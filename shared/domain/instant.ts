/**
 * ms since 1970 of a time that RFC 3339 can write; undefined for any other text, since a Workflow's status can hold whatever
 * somebody who may write Workflows puts there.
 */
export function instantOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? ms : undefined;
}
