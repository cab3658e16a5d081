import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Where Knative's SinkBinding mounts the cluster's trust bundles (eventing pkg/eventingtls TrustBundleMountPath). */
export const bundleFolder = '/knative-custom-certs';
const rereadMs = 60_000;

/**
 * The authorities that Knative says the broker is vouched for by, as PEM: those of the broker itself (K_CA_CERTS) and every file of
 * `folder`, which is read again at most once a minute, as bundles are renewed while pods run. Without a folder there are none.
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
    // What begins with two dots is the kubelet's: the files beside it are links into it.
    const files = names.filter((name) => !name.startsWith('..')).toSorted();
    return await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return [];
    throw caught;
  }
}
