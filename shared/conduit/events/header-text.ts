/**
 * Encodes an attribute value for an HTTP header (CloudEvents HTTP binding 1.0, 3.1.3.2): everything outside printable
 * ASCII, and the space, double quote and percent sign, is percent-encoded as UTF-8. The JavaScript SDK omits this.
 */
export function encodeHeaderText(value: string): string {
  return value.toWellFormed().replace(/[^\x21-\x7e]|["%]/gu, encodeURIComponent);
}

/** Decodes a header value: removes one pair of quotes, then percent-encoding if it is valid UTF-8; otherwise returns the value unchanged. */
export function decodeHeaderText(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/gs, '$1');
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      // Senders that do not encode may send a literal percent sign.
      return encoded;
    }
  });
}
