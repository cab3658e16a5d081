import { describe, expect, it } from 'vitest';
import { inRegion, s3Place } from './s3-object.ts';

describe('s3Place', () => {
  it.each([
    [
      'https://minio:9000/bucket/pre',
      'a/b c',
      'https://minio:9000/bucket/pre/a/b%20c',
      '/bucket',
      'pre/a/b c',
      undefined,
    ],
    ['minio:9000', 'bucket/a', 'https://minio:9000/bucket/a', '/bucket', 'a', undefined],
    [
      'https://b.s3.eu-central-1.amazonaws.com/pre',
      'a',
      'https://b.s3.eu-central-1.amazonaws.com/pre/a',
      '/',
      'pre/a',
      'eu-central-1',
    ],
    [
      'https://s3.us-west-2.amazonaws.com/b',
      'a',
      'https://s3.us-west-2.amazonaws.com/b/a',
      '/b',
      'a',
      'us-west-2',
    ],
    ['s3://b/pre', 'a', 'https://b.s3.us-east-1.amazonaws.com/pre/a', '/', 'pre/a', 'us-east-1'],
    ['S3://b', 'a', 'https://b.s3.us-east-1.amazonaws.com/a', '/', 'a', 'us-east-1'],
    ['s3://b.c', 'a', 'https://s3.us-east-1.amazonaws.com/b.c/a', '/b.c', 'a', 'us-east-1'],
  ])('of %s and %s', (remoteURL, path, url, bucketPath, key, region) => {
    const place = s3Place(remoteURL, path);
    expect(place.url.href).toBe(url);
    expect(place.bucketURL.pathname).toBe(bucketPath);
    expect(place).toMatchObject({ key, region });
  });

  it('of s3:// is in the region given, and can be asked for in another', () => {
    const { url } = s3Place('s3://b/pre', 'a', {}, 'eu-west-1');
    expect(url.host).toBe('b.s3.eu-west-1.amazonaws.com');
    expect(s3Place('s3://b', 'a', {}, 'cn-north-1').url.host).toBe('b.s3.cn-north-1.amazonaws.com.cn');
    expect(inRegion(url, 'us-west-2').href).toBe('https://b.s3.us-west-2.amazonaws.com/pre/a');
    expect(inRegion(s3Place('s3://b.c', 'a').url, 'us-west-2').host).toBe('s3.us-west-2.amazonaws.com');
    for (const region of ['minio', 'evil.example/', '']) expect(inRegion(url, region)).toBe(url);
  });

  it.each(['a+b c%', 'a%2Bb%20c%25'])(
    'reads the prefix %s in every spelling, and sends it in one',
    (prefix) => {
      const { url, key } = s3Place(`https://minio:9000/bucket/${prefix}`, 'x');
      expect({ path: url.pathname, key }).toEqual({ path: '/bucket/a%2Bb%20c%25/x', key: 'a+b c%/x' });
    },
  );

  it('names a copy by bucket and key, escaped', () => {
    expect(s3Place('https://b.s3.eu-west-1.amazonaws.com', 'a+b').copySource).toBe('/b/a%2Bb');
  });

  it.each([
    ['https://minio:9000', 'bucket', /only a bucket/],
    ['https://minio:9000/b?x=1', 'a', /a query is not for S3/],
  ])('refuses %s and %s', (remoteURL, path, message) => {
    expect(() => s3Place(remoteURL, path)).toThrow(message);
  });
});
