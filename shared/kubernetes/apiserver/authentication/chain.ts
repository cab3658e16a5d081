import type { X509Certificate } from 'node:crypto';

/** Limit of certificates between the client and an authority. */
const maxDepth = 5;
const clientAuth = '1.3.6.1.5.5.7.3.2';
const anyUse = '2.5.29.37.0';

/**
 * Tells whether `leaf`, with the intermediates from the client, chains to one of `authorities`, all certificates of the chain are valid at
 * `now`, and `leaf` allows client authentication (like Go's x509.Verify with ExtKeyUsageClientAuth).
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
  // Without the extension, every usage is allowed.
  return keyUsage === undefined || keyUsage.includes(clientAuth) || keyUsage.includes(anyUse);
}

function isValid(certificate: X509Certificate, now: Date): boolean {
  return certificate.validFromDate <= now && now <= certificate.validToDate;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

type Subject = ReturnType<X509Certificate['toLegacyObject']>['subject'] | undefined;

/** A connection has one certificate and many requests, of which decoding the certificate would take 3 % of the CPU. */
const subjects = new WeakMap<X509Certificate, Subject>();

function subjectOf(certificate: X509Certificate): Subject {
  if (!subjects.has(certificate)) subjects.set(certificate, certificate.toLegacyObject().subject);
  return subjects.get(certificate);
}

/** Returns the values of an attribute of the subject, in order. */
export function subjectValues(certificate: X509Certificate, attribute: 'CN' | 'O'): string[] {
  // `subject` is a single escaped string; the legacy object has separate values.
  const value = subjectOf(certificate)?.[attribute] as string | string[] | undefined;
  return value === undefined ? [] : typeof value === 'string' ? [value] : [...value];
}
