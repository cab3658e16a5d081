import { AddressError } from './address-error.ts';
import { decodedName, escapeName, fileURL } from './file-url.ts';
import type { Plain } from './image-address.ts';

/** One object of an S3-compatible object store. */
export interface S3Place {
  url: URL;
  /** The URL of the bucket, for requests that concern no object. */
  bucketURL: URL;
  /** The object's key: its path within the bucket, unescaped. */
  key: string;
  /** `/bucket/key`, escaped: the source of a server-side copy. */
  copySource: string;
  /** The region that the host name contains. */
  region: string | undefined;
}

// s3.eu-central-1.amazonaws.com, bucket.s3.amazonaws.com, bucket.s3.dualstack.us-west-2.amazonaws.com.cn
export const awsHost =
  /^(?:(.+)\.)?s3(?:[.-](?:dualstack\.|fips\.)?([a-z]{2}(?:-[a-z]+)+-\d))?\.amazonaws\.com(?:\.cn)?$/;

/**
 * Returns the object at `path` below an Endpoint's `remoteURL`: `https://host/bucket[/prefix]` (path style), `https://host` (`path` then
 * begins with the bucket), `https://bucket.s3.region.amazonaws.com[/prefix]` (virtual-host style) or `s3://bucket[/prefix]` (AWS, in
 * `region`). Throws an AddressError.
 */
export function s3Place(remoteURL: string, path: string, tls: Plain = {}, region?: string): S3Place {
  const url = fileURL(awsURL(remoteURL, region), path, tls);
  if (url.search !== '')
    throw new AddressError(
      `The Endpoint's remoteURL "${remoteURL.slice(0, 300)}" cannot be used: a query is not for S3.`,
    );
  const [, hostBucket, hostRegion] = awsHost.exec(url.hostname) ?? [];
  const names = url.pathname.split('/').filter(Boolean).map(decodedName);
  // Signed and sent in one spelling: a "+" is a blank to some storages, and to others itself.
  url.pathname = names.map(escapeName).join('/');
  const [bucket = '', ...key] = hostBucket === undefined ? names : [hostBucket, ...names];
  if (key.length === 0) {
    const fix = 'name the bucket in remoteURL of the Endpoint, as in https://storage.example.com/bucket';
    throw new AddressError(`The path "${path}" is only a bucket: ${fix}.`);
  }
  return {
    url,
    bucketURL: new URL(hostBucket === undefined ? `/${escapeName(bucket)}` : '/', url),
    key: key.join('/'),
    copySource: `/${[bucket, ...key].map(escapeName).join('/')}`,
    region: hostRegion,
  };
}

/** Returns true for `s3://bucket`, which does not tell the region of the bucket. */
export function isAnywhere(remoteURL: string): boolean {
  return /^s3:\/\//i.test(remoteURL);
}

/** Returns true for a remoteURL on AWS, of any form. */
export function isAwsStorage(remoteURL: string): boolean {
  return isAnywhere(remoteURL) || awsHost.test(URL.parse(remoteURL)?.hostname ?? '');
}

/** Returns a URL of AWS with the host of another region; the same URL where the host has no region. */
export function inRegion(url: URL, region: string): URL {
  const moved = new URL(url);
  moved.hostname = url.hostname.replace(
    /(^|\.)s3\.[a-z0-9-]+\.amazonaws\.com/,
    `$1s3.${region}.amazonaws.com`,
  );
  return awsHost.exec(moved.hostname)?.[2] === region ? moved : url;
}

function awsURL(remoteURL: string, region = 'us-east-1'): string {
  const [, bucket, prefix = ''] = /^[sS]3:\/\/([a-z0-9][a-z0-9.-]*)(\/.*)?$/.exec(remoteURL) ?? [];
  if (bucket === undefined) return remoteURL;
  // The wildcard certificate of AWS does not cover bucket names with dots.
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}${prefix}` : `https://${bucket}.${host}${prefix}`;
}
