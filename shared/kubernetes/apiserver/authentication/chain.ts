import type { X509Certificate } from 'node:crypto';

/** Longest chain between the client's certificate and an authority's. */
const maxDepth = 5;
const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUse = '2.5.29.37.0';

/**
 * True when `leaf`, with the intermediates that the client sent, chains to one of `authorities`, every certificate of the chain
 * is valid at `now`, and `leaf` may identify a client (as Go's x509.Verify with ExtKeyUsageClientAuth).
 */
export function chainsTo(leaf: X509Certificate, authorities: readonly X509Certificate[], now: Date): boolean {
  if (!mayBeClient(leaf)) return false;
  let current: X509Certificate | undefined = leaf;
  for (let depth = 0; current !== undefined && depth < maxDepth; depth++) {
    const certificate: X509Certificate = current;
    if (!isValid(certificate, now) || (depth > 0 && !certificate.ca)) return false;
    if (authorities.some((each) => isValid(each, now) && isIssuedBy(certificate, each))) return true;
    const issuer = certificate.issuerCertificate;
    current = issuer && isIssuedBy(certificate, issuer) ? issuer : undefined;
  }
  return false;
}

function mayBeClient({ keyUsage }: X509Certificate): boolean {
  // Without the extension every use is allowed.
  return keyUsage === undefined || keyUsage.includes(clientAuth) || keyUsage.includes(anyUse);
}

function isValid(certificate: X509Certificate, now: Date): boolean {
  return certificate.validFromDate <= now && now <= certificate.validToDate;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** The values of one attribute of the subject, in order (`CN`, `O`). */
export function subjectValues(certificate: X509Certificate, attribute: 'CN' | 'O'): string[] {
  // `subject` is one escaped text; the legacy object has the values themselves.
  const value = certificate.toLegacyObject().subject?.[attribute] as string | string[] | undefined;
  return value === undefined ? [] : typeof value === 'string' ? [value] : [...value];
}
