const lengths: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 };

/** Returns true for `sha256:<64 hex>` and `sha512:<128 hex>`, the registered algorithms of the OCI image specification. */
export function isDigest(text: string): boolean {
  const [algorithm = '', hex = '', ...rest] = text.split(':');
  return rest.length === 0 && lengths[algorithm] === hex.length && /^[0-9a-f]+$/.test(hex);
}
