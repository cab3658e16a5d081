import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The folder where Knative's SinkBinding mounts the cluster's trust bundles (eventing pkg/eventingtls TrustBundleMountPath). */
const bundleFolder = '/knative-custom-certs';
const rereadMs = 60_000;

/**
 * Reads the certificate authorities of the broker as PEM: those that Knative gives with its address (K_CA_CERTS) and every file of
 * `folder`. Bundles are renewed while pods run, so the folder is read again, at most once a minute. A missing folder is empty.
 *
 * @param now milliseconds of any steady clock
 */
export function sinkAuthorities(
  given = '',
  folder = bundleFolder,
  now: () => number = () => performance.now(),
): () => Promise<string> {
  let readAt = Number.NEGATIVE_INFINITY;
  let pem = '';
  return async () => {
    if (now() - readAt < rereadMs) return pem;
    const bundles = await bundlesOf(folder);
    readAt = now();
    pem = [given, ...bundles]
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join('\n');
    return pem;
  };
}

async function bundlesOf(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    // Names that begin with two dots belong to the kubelet; the files beside them are links into them.
    const files = names.filter((name) => !name.startsWith('..')).toSorted();
    return await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return [];
    throw caught;
  }
}
