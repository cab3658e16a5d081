import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { generate } from 'selfsigned';
import type { Leaf } from './leaves.ts';

/** A certificate and its key, PEM. */
export interface Pair {
  cert: string;
  key: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
const leafDays = 365;
/** Clocks of a cluster differ a little. */
const skewMs = 5 * 60_000;
const common = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** A new authority, valid for ten years. */
export async function makeAuthority(now: Date): Promise<Pair> {
  // A unique name: with two trusted authorities of one name, a client tries the wrong key and gives up.
  const name = `arc-${randomBytes(8).toString('hex')}`;
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...common,
    ...validity(now, authorityDays),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert, key };
}

/** A certificate by `authority`, valid for a year, for server and client: etcd's members are both. */
export async function issue(authority: Pair, { commonName, hosts }: Leaf, now: Date): Promise<Pair> {
  const altNames = hosts.map((host) =>
    isIP(host) === 0 ? { type: 2 as const, value: host } : { type: 7 as const, ip: host },
  );
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    ...common,
    ...validity(now, leafDays),
    ca: { key: authority.key, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: hosts.length > 0, clientAuth: true },
      ...(altNames.length > 0 ? [{ name: 'subjectAltName' as const, altNames }] : []),
    ],
  });
  return { cert, key };
}

function validity(now: Date, days: number) {
  return {
    notBeforeDate: new Date(now.getTime() - skewMs),
    notAfterDate: new Date(now.getTime() + days * dayMs),
  };
}

/** True while `pair` is an authority with its key and two years left: longer than anything that it will sign. */
export function isGoodAuthority(pair: Pair, now: Date): boolean {
  const cert = parse(pair);
  return cert?.ca === true && lasts(cert, now, 2 * leafDays * dayMs);
}

/** True when less than three years are left: it is time to make the next authority known. */
export function isAgeingAuthority(pair: Pair, now: Date): boolean {
  const cert = parse(pair);
  return cert === undefined || !lasts(cert, now, 3 * leafDays * dayMs);
}

/** True also for a text that is not a certificate. */
export function hasExpired(pem: string, now: Date): boolean {
  try {
    return new X509Certificate(pem).validToDate <= now;
  } catch {
    return true; // nobody can trust it
  }
}

/** True while `pair` is as `issue` would make it for `leaf`, with a third of its time left. */
export function isGoodLeaf(pair: Pair, leaf: Leaf, authority: Pair, now: Date): boolean {
  const cert = parse(pair);
  if (cert === undefined || !lasts(cert, now, (leafDays / 3) * dayMs)) return false;
  const issuer = new X509Certificate(authority.cert);
  return cert.checkIssued(issuer) && cert.verify(issuer.publicKey) && sameHosts(cert, leaf.hosts);
}

/** Undefined unless the pair is a certificate with its key. */
function parse({ cert, key }: Pair): X509Certificate | undefined {
  try {
    const parsed = new X509Certificate(cert);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? parsed : undefined;
  } catch {
    return undefined; // not PEM: treated as a key that does not fit
  }
}

function lasts(cert: X509Certificate, now: Date, ms: number): boolean {
  return cert.validToDate.getTime() - now.getTime() > ms && cert.validFromDate <= now;
}

function sameHosts({ subjectAltName = '' }: X509Certificate, hosts: readonly string[]): boolean {
  const found = subjectAltName.split(', ').filter((text) => text !== '');
  const wanted = hosts.map((host) => `${isIP(host) === 0 ? 'DNS' : 'IP Address'}:${host}`);
  return found.toSorted().join() === wanted.toSorted().join();
}
