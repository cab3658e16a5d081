import { readFile } from 'node:fs/promises';
import { setInterval as every } from 'node:timers/promises';
import { ArcError } from '#shared/base/errors';

/** Paths of PEM files, or the texts in them: an authority, and a certificate with its key. */
type Pem = { readonly [name in 'ca' | 'cert' | 'key']?: string };

/** The texts of files; rejects with ServiceUnavailable naming the file that cannot be read or is empty. */
export async function readPem<T extends Pem>(files: T): Promise<T> {
  const texts = Object.entries(files).map(async ([name, file]) => [name, await readText(file)]);
  return Object.fromEntries(await Promise.all(texts)) as T;
}

async function readText(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((caught: unknown) => {
    throw new ArcError('ServiceUnavailable', `cannot read ${file}: ${ArcError.from(caught).message}`);
  });
  // A program that writes a file in place empties it first, and this may have read it just then.
  if (text === '') throw new ArcError('ServiceUnavailable', `${file} is empty: it must hold PEM`);
  return text;
}

export interface FollowOptions<T extends Pem> {
  files: T;
  /** The texts in use. */
  current: T;
  /** Called when a file has changed; called again with the next read when it throws. */
  onChange(texts: T): void;
  onFailure(error: ArcError): void;
  signal: AbortSignal;
  everyMs?: number;
}

/**
 * Reads the files again every 10 s and reports changes: the kubelet swaps Secret volumes by symbolic links, which file
 * watches miss. Resolves when `signal` is aborted.
 */
export async function followPem<T extends Pem>(options: FollowOptions<T>): Promise<void> {
  const { files, onChange, onFailure, signal, everyMs = 10_000 } = options;
  let { ca, cert, key } = options.current;
  try {
    for await (const _ of every(everyMs, undefined, { signal, ref: false })) {
      try {
        const next = await readPem(files);
        if (next.ca === ca && next.cert === cert && next.key === key) continue;
        onChange(next);
        ({ ca, cert, key } = next);
      } catch (caught) {
        onFailure(ArcError.from(caught)); // only half of a pair may be written: the next read finds both
      }
    }
  } catch (caught) {
    if (!signal.aborted) throw caught;
  }
}
