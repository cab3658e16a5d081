import { readFile } from 'node:fs/promises';
import tls from 'node:tls';
import { ArcError } from '#shared/base/errors';

const rereadIntervalMs = 60_000;

/**
 * Returns a function that trusts the certificate authorities in a PEM file for all TLS of this process. Reads the file again at most once a
 * minute, because the authority of a cluster is rotated while pods run; Node reads NODE_EXTRA_CA_CERTS only at startup. A file that becomes
 * missing or empty is ignored.
 *
 * @param required reject with ServiceUnavailable if the file never existed; otherwise it may be absent
 * @param now milliseconds of a monotonic clock
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
    if (now() - lookedAt < rereadIntervalMs) return;
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
