import { readFile } from 'node:fs/promises';
import { setInterval as every } from 'node:timers/promises';
import type { Certificate } from '#shared/apiserver';
import { ArcError } from '#shared/errors';

/** Certificate and key from their PEM files; rejects with ServiceUnavailable naming the file that cannot be read or is empty. */
export async function readCertificate(certFile: string, keyFile: string): Promise<Certificate> {
  const [cert, key] = await Promise.all([certFile, keyFile].map(readText));
  return { cert: cert ?? '', key: key ?? '' };
}

async function readText(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((caught: unknown) => {
    throw new ArcError('ServiceUnavailable', `cannot read ${file}: ${ArcError.from(caught).message}`);
  });
  // Who writes a file in place empties it first, and it may be read right then.
  if (text === '') throw new ArcError('ServiceUnavailable', `${file} is empty: it must hold PEM`);
  return text;
}

export interface FollowOptions {
  certFile: string;
  keyFile: string;
  current: Certificate;
  /** May throw: then the next change is tried. */
  onChange(certificate: Certificate): void;
  onFailure(error: ArcError): void;
  signal: AbortSignal;
  everyMs?: number;
}

/**
 * Reads the files again every 10 s and tells of changes: volumes of Secrets are swapped by symbolic links, which file
 * watches miss. Resolves when `signal` is aborted.
 */
export async function followCertificate(options: FollowOptions): Promise<void> {
  const { certFile, keyFile, onChange, onFailure, signal, everyMs = 10_000 } = options;
  let { cert, key } = options.current;
  try {
    for await (const _ of every(everyMs, undefined, { signal, ref: false })) {
      try {
        const next = await readCertificate(certFile, keyFile);
        if (next.cert === cert && next.key === key) continue;
        onChange(next);
        ({ cert, key } = next);
      } catch (caught) {
        onFailure(ArcError.from(caught)); // half of a pair may be there: the next look sees both
      }
    }
  } catch (caught) {
    if (!signal.aborted) throw caught;
  }
}
