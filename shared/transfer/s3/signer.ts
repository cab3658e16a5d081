import type { IncomingHttpHeaders } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';
import type { CredentialSource } from '../credentials/cached-credentials.ts';
import type { EndpointCredentials, S3Credentials } from '../credentials/credentials.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { ServerRequest, Signer } from '../servers/file-server.ts';
import { s3Error } from './answers.ts';

/** SHA-256 of no bytes. */
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const regionName = /^[a-z0-9][a-z0-9-]{0,40}$/;

/** The keys in an Endpoint's credentials; `username` and `password` are accepted as keys. Throws a config TransferError for others. */
export function s3Keys(
  credentials: EndpointCredentials | undefined,
  endpoint: string,
): S3Credentials | undefined {
  if (credentials === undefined) return undefined;
  if ('accessKeyID' in credentials) return credentials;
  if ('username' in credentials)
    return { accessKeyID: credentials.username, secretAccessKey: credentials.password };
  throw new TransferError(
    'config',
    `The Secret of Endpoint "${endpoint}" is not for S3: it needs accessKeyID and secretAccessKey.`,
  );
}

/** A signer that knows the region of the storage. */
export interface S3Signer extends Signer {
  /** The region that the storage has reported last. */
  readonly region: string;
}

/**
 * Creates a signer for AWS Signature Version 4; without keys requests are unsigned. Keys of a pod's identity are used only after the storage has
 * refused an unsigned request, because public content needs none. The region is corrected if the storage reports another one. `now` is in
 * milliseconds.
 */
export function createS3Signer(
  keys: S3Credentials | CredentialSource<S3Credentials> | undefined,
  region = 'us-east-1',
  now: () => number = Date.now,
): S3Signer {
  let current = region;
  let isRequired = typeof keys !== 'function';
  const cache = new Map<string, ArrayBuffer>();
  return {
    hasCredentials: keys !== undefined,
    get region() {
      return current;
    },

    async headers({ method, url, headers = {}, body, bodyHash }: ServerRequest, signal: AbortSignal) {
      if (keys === undefined || !isRequired) return {};
      const mine = typeof keys === 'function' ? await keys(signal) : keys;
      const { accessKeyID: accessKeyId, secretAccessKey, sessionToken } = mine;
      const hash = bodyHash ?? (body === undefined ? emptyHash : 'UNSIGNED-PAYLOAD');
      const signer = new AwsV4Signer({
        method,
        url: url.href,
        headers: { ...signable(headers), 'x-amz-content-sha256': hash },
        accessKeyId,
        secretAccessKey,
        ...(sessionToken === undefined ? {} : { sessionToken }),
        service: 's3',
        region: current,
        datetime: new Date(now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
        allHeaders: true,
        cache,
      });
      return Object.fromEntries((await signer.sign()).headers);
    },

    learn(status, headers, bytes) {
      if (![301, 307, 400, 401, 403].includes(status)) return false;
      const refused = status === 401 || status === 403;
      if (refused && isRequired) return false;
      const named = regionOf(headers, bytes);
      const isOther = named !== undefined && named !== current;
      if (isOther) current = named;
      if (refused) isRequired = true;
      return refused || isOther;
    },
  };
}

/** The headers to sign; proxies may change the others. */
function signable(headers: Readonly<Record<string, string>>): Record<string, string> {
  const signed = Object.entries(headers).filter(
    ([name]) => name.startsWith('x-amz-') || ['content-type', 'range', 'date', 'if-match'].includes(name),
  );
  return Object.fromEntries(signed);
}

function regionOf(headers: IncomingHttpHeaders, bytes: Buffer): string | undefined {
  const header = headers['x-amz-bucket-region'];
  const named = typeof header === 'string' ? header : s3Error(bytes)?.region;
  return named !== undefined && regionName.test(named) ? named : undefined;
}
