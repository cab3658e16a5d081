import type { IncomingHttpHeaders } from 'node:http';
import { inRegion, isAnywhere } from '../s3/place.ts';

const regionName = /^[a-z0-9][a-z0-9-]{0,40}$/;

/** The region in which a storage says that the bucket is. */
export function bucketRegion({ 'x-amz-bucket-region': named }: IncomingHttpHeaders): string | undefined {
  return typeof named === 'string' && regionName.test(named) ? named : undefined;
}

/**
 * The answer to `get(url)`. The Endpoint of `s3://bucket` does not say where the bucket is, and AWS answers 301 in every other region, without asking
 * for credentials: then the host of the region that it names is asked, once.
 */
export async function askBucket<Answer extends { region: string | undefined }>(
  remoteURL: string,
  url: URL,
  get: (url: URL) => Promise<Answer>,
): Promise<{ url: URL; answer: Answer }> {
  const answer = await get(url);
  if (!isAnywhere(remoteURL) || answer.region === undefined) return { url, answer };
  const moved = inRegion(url, answer.region);
  return moved.host === url.host ? { url, answer } : { url: moved, answer: await get(moved) };
}
