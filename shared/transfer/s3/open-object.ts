import { inRegion, isAnywhere, type S3Place } from '#shared/domain/address';
import { accountOf } from '../credentials/account.ts';
import { secretsOfEndpoint } from '../credentials/credentials.ts';
import { s3Place } from '../reference/address.ts';
import type { Connections } from '../servers/connections.ts';
import { createFileServer, type FileServer } from '../servers/file-server.ts';
import { type FileLocation, labelOf } from '../servers/location.ts';
import { explainFailure } from './answers.ts';
import { type S3Object, withQuery } from './bucket.ts';
import { createS3Signer, type S3Signer, s3Keys } from './signer.ts';

/** Statuses for operations that an account may not do, or a storage does not support. */
export const unsupported = [400, 403, 404, 405, 412, 501];

/** Returns the client for one object, with the keys of its Endpoint or of the pod's identity. Throws a config TransferError. */
export function openObject(
  { name, remoteURL, path, tls = {}, credentials, redirectHosts = [] }: FileLocation,
  connections: Connections,
) {
  const keys = s3Keys(credentials, name);
  for (const secret of secretsOfEndpoint(credentials)) connections.masker.add(secret);
  const place = s3Place(remoteURL, path, tls, keys?.region ?? connections.identities.region);
  const origin = new URL(place.url.origin);
  const cloudKeys =
    credentials === undefined ? connections.identities.storage(origin.origin, tls) : undefined;
  const region = isAnywhere(remoteURL) ? place.region : undefined;
  const signer = createS3Signer(
    keys ?? cloudKeys,
    region ?? keys?.region ?? place.region ?? connections.identities.region,
  );
  const plain = createFileServer({
    endpoint: name,
    origin,
    client: connections.client(tls, origin.origin),
    limiter: connections.limiter(origin.origin, cloudKeys ? 'cloud' : accountOf(keys, tls)),
    retry: connections.retry,
    signer,
    ...(region !== undefined && { at: followRegion(region, signer) }),
    redirectHosts,
    readFailure: explainFailure,
  });
  const isSigned = keys !== undefined || cloudKeys !== undefined;
  const send = isSigned ? learnRegionOnHead(plain, place) : plain;
  const object: S3Object = { send, place, label: labelOf(path, place.url), retry: connections.retry };
  return { object, storage: `${origin.origin} ${keys?.accessKeyID ?? ''}` };
}

/** Maps URLs to the region of a bucket: `region`, until the storage has reported another one. Switches at most once. */
function followRegion(region: string, signer: S3Signer): (url: URL) => URL {
  let moved: string | undefined;
  return (url) => {
    if (signer.region !== region) moved ??= signer.region;
    return moved === undefined ? url : inRegion(url, moved);
  };
}

/**
 * Storages report the required region in the body of a refusal, which a HEAD does not have: after the first refused HEAD, a GET teaches the
 * signer the region, and the HEAD is sent again.
 */
function learnRegionOnHead(send: FileServer, { bucketURL }: S3Place): FileServer {
  let isAsked = false;
  return async (request, signal) => {
    const answer = await send(request, signal);
    if (request.method !== 'HEAD' || isAsked || (answer.status !== 400 && answer.status !== 403))
      return answer;
    isAsked = true;
    const url = withQuery(bucketURL, { location: '' });
    await send(
      { method: 'GET', url, expect: [200, ...unsupported], activity: 'asking for the region of the bucket' },
      signal,
    );
    return send(request, signal);
  };
}
