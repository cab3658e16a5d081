import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { ArcError } from '#shared/base/errors';

const rereadMs = 60_000;

/**
 * Trusts the certificate authorities in a PEM file for all TLS of this process, and reads the file again at most once a minute,
 * when called: a cluster's authority is renewed while pods run. NODE_EXTRA_CA_CERTS does not do this, because Node reads it only at
 * its start. Once a file was read, its absence or emptiness changes nothing.
 *
 * @param required reject with ServiceUnavailable if the file never existed; otherwise it may be absent
 * @param now milliseconds of any steady clock
 */
export function fileAuthority(
  path: string,
  required: boolean,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let trusted = '';
  let others: string[] | undefined;
  return async () => {
    if (now() - lookedAt < rereadMs) return;
    const pem = await read(path, required && trusted === '');
    lookedAt = now();
    if (pem === '' || pem === trusted) return;
    others ??= tls.getCACertificates('default');
    tls.setDefaultCACertificates([...others, pem]);
    trusted = pem;
  };
}

async function read(path: string, required: boolean): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if (!required) return '';
    throw new ArcError('ServiceUnavailable', `cannot read the certificate authority ${path}`, { cause });
  }
}
