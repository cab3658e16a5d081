/**
 * How attribute values travel in HTTP headers (CloudEvents HTTP binding 1.0, 3.1.3.2): everything outside printable
 * ASCII, and the space, double quote and percent sign, is percent-encoded as UTF-8. The JavaScript SDK leaves that out.
 */
export function encodeHeaderText(value: string): string {
  return value.toWellFormed().replace(/[^\x21-\x7e]|["%]/gu, encodeURIComponent);
}

/** The value of a header: one pair of quotes undone, then percent-encoding, if it is valid UTF-8; otherwise left as it is. */
export function decodeHeaderText(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/gs, '$1');
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      // Senders that do not encode may send a percent sign that means itself.
      return encoded;
    }
  });
}
