import { accountOf } from '../credentials/account.ts';
import { secretsOfEndpoint } from '../credentials/credentials.ts';
import type { Connections } from '../servers/connections.ts';
import { createFileServer, type FileServer } from '../servers/file-server.ts';
import { type FileLocation, labelOf } from '../servers/location.ts';
import { readFailure } from './answers.ts';
import { type S3Object, withQuery } from './bucket.ts';
import { inRegion, isAnywhere, type S3Place, s3Place } from './place.ts';
import { createS3Signer, type S3Signer, s3Keys } from './signer.ts';

/** Answers to what an account may not do, or a storage cannot. */
export const unable = [400, 403, 404, 405, 412, 501];

/** How to send requests about one object, with the keys of its Endpoint or those that the pod is lent. Throws a config TransferError. */
export function objectOf(
  { name, remoteURL, path, tls = {}, credentials, redirectHosts = [] }: FileLocation,
  connections: Connections,
) {
  const keys = s3Keys(credentials, name);
  for (const secret of secretsOfEndpoint(credentials)) connections.masker.add(secret);
  const place = s3Place(remoteURL, path, tls, keys?.region ?? connections.identities.region);
  const origin = new URL(place.url.origin);
  const lend = credentials === undefined ? connections.identities.storage(origin.origin, tls) : undefined;
  const region = isAnywhere(remoteURL) ? place.region : undefined;
  const signer = createS3Signer(
    keys ?? lend,
    region ?? keys?.region ?? place.region ?? connections.identities.region,
  );
  const plain = createFileServer({
    endpoint: name,
    origin,
    client: connections.client(tls, origin.origin),
    limiter: connections.limiter(origin.origin, lend ? 'cloud' : accountOf(keys, tls)),
    retry: connections.retry,
    signer,
    ...(region !== undefined && { at: movingOnce(region, signer) }),
    redirectHosts,
    readFailure,
  });
  const isSigned = keys !== undefined || lend !== undefined;
  const send = isSigned ? findingRegion(plain, place) : plain;
  const object: S3Object = { send, place, label: labelOf(path, place.url), retry: connections.retry };
  return { object, storage: `${origin.origin} ${keys?.accessKeyID ?? ''}` };
}

/** Where the bucket is that the Endpoint only names: in `region`, until the storage has named another one. Such a change is made once. */
function movingOnce(region: string, signer: S3Signer): (url: URL) => URL {
  let moved: string | undefined;
  return (url) => {
    if (signer.region !== region) moved ??= signer.region;
    return moved === undefined ? url : inRegion(url, moved);
  };
}

/**
 * Storages name the region that a request has to be signed for in the body of their refusal, and the answer to a HEAD has none: the first
 * one that is refused is sent again after a GET, from which the signer learns.
 */
function findingRegion(send: FileServer, { bucketURL }: S3Place): FileServer {
  let isAsked = false;
  return async (request, signal) => {
    const answer = await send(request, signal);
    if (request.method !== 'HEAD' || isAsked || (answer.status !== 400 && answer.status !== 403))
      return answer;
    isAsked = true;
    const url = withQuery(bucketURL, { location: '' });
    await send(
      { method: 'GET', url, expect: [200, ...unable], activity: 'asking for the region of the bucket' },
      signal,
    );
    return send(request, signal);
  };
}
