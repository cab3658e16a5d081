import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readIfPresent, writeAtomically } from './state-files.ts';

/** A CA and a serving certificate for loopback, PEM. */
export interface Pki {
  ca: string;
  cert: string;
  key: string;
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Loads the certificates of the standalone in `folder`, or creates them at the first start, so that an existing kubeconfig stays valid. The CA's
 * key is discarded after it has signed the serving certificate.
 */
export async function loadPki(folder: string, now: Date): Promise<Pki> {
  const file = path.join(folder, 'pki.json');
  const saved = await readIfPresent(file);
  if (saved !== undefined) return JSON.parse(saved) as Pki;
  const made = await createPki(now);
  await writeAtomically(file, JSON.stringify(made));
  return made;
}

async function createPki(now: Date): Promise<Pki> {
  const { generate } = await import('selfsigned'); // only needed to create certificates
  const notBeforeDate = new Date(now.getTime() - 60_000);
  const common = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notBeforeDate } as const;
  // A unique name: a client that trusts two CAs of the same name may try the wrong key and give up.
  const authorityName = `arc-standalone-${randomBytes(8).toString('hex')}`;
  const authority = await generate([{ name: 'commonName', value: authorityName }], {
    ...common,
    notAfterDate: new Date(now.getTime() + 10 * yearMs),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const serving = await generate([{ name: 'commonName', value: 'arc-standalone' }], {
    ...common,
    notAfterDate: new Date(now.getTime() + 10 * yearMs),
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { ca: authority.cert, cert: serving.cert, key: serving.private };
}
